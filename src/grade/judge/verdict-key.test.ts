import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FleetOptions, JudgeFleet } from '../../chat/index.ts'
import { VerdictCache } from './cache/index.ts'
import { HttpJudge } from './http-judge.fixture.ts'
import { llmJudge } from './judge.ts'

const CRITERIA = [{ id: 'kind', text: 'Is kind', points: 1 }]
const ITEM = { prompt: [{ role: 'user' as const, content: 'Hello?' }], response: 'Hi!' }
const SECRET = 'not-for-the-cache'

let folder: string
let server: HttpJudge
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-verdict-key-'))
  server = await HttpJudge.start(() => true)
})
afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

type Endpoint = Partial<FleetOptions['endpoints'][number]>

/** Calls that a new judge on the same cache folder needs for the same question. */
const callsOf = async (
  endpoints: readonly Endpoint[],
  fleet: Partial<FleetOptions> = {},
  sampling: { topK?: number } = {},
): Promise<number> => {
  const cache = VerdictCache.open(folder)
  const model = new JudgeFleet(
    { ...fleet, endpoints: endpoints.map(each => ({ url: server.url, model: 'm', ...each })) },
    { env: { KEY: SECRET } },
  )
  const judge = llmJudge({ model, cache, ...sampling })
  const before = server.calls
  const [{ met }] = await judge.grade(ITEM, CRITERIA)
  expect(met).toBe(true)
  await judge.close()
  cache.close()
  return server.calls - before
}

const thinking = (on: boolean): Endpoint => ({ extraBody: { chat_template_kwargs: { enable_thinking: on } } })

describe('a durable cache knows a verdict by all that decides it', () => {
  it.each<[string, Endpoint, Endpoint]>([
    ['thinking', thinking(true), thinking(false)],
    ['thinking, against none set', {}, thinking(false)],
    ['a temperature of the endpoint', { extraBody: { temperature: 0 } }, { extraBody: { temperature: 1 } }],
    ['another model', {}, { model: 'other' }],
    ['another model in the body', {}, { extraBody: { model: 'other' } }],
    ['a structure that is not enforced', {}, { structuredOutput: 'none' }],
  ])('%s: asked again', async (_, first, second) => {
    expect(await callsOf([first])).toBe(1)
    expect(await callsOf([second])).toBe(1)
    expect([await callsOf([first]), await callsOf([second])]).toEqual([0, 0])
  })

  it('topK that is sent is another question than one that is not', async () => {
    expect(await callsOf([{ sendTopK: true }], {}, { topK: 20 })).toBe(1)
    expect(await callsOf([{ sendTopK: false }], {}, { topK: 20 })).toBe(1)
  })

  it('and by nothing else: not by the order of keys, the address, limits, headers or secrets', async () => {
    const body = { top_a: 0.1, chat_template_kwargs: { enable_thinking: true, effort: 'low' } }
    const turned = { chat_template_kwargs: { effort: 'low', enable_thinking: true }, top_a: 0.1 }
    expect(await callsOf([{ extraBody: body }])).toBe(1)
    const elsewhere: Endpoint = {
      url: 'http://127.0.0.1:9',
      extraBody: turned,
      concurrency: 3,
      weight: 7,
      headers: { 'x-key': SECRET },
      apiKeyEnv: 'KEY',
    }
    expect(await callsOf([elsewhere])).toBe(0)
    expect(await callsOf([{ ...elsewhere, url: server.url, model: 'other' }])).toBe(1)
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(each => each.isFile())
    expect(files.length).toBeGreaterThan(0)
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name), 'utf8')).not.toContain(SECRET)
  })

  it('of a fleet: which settings belong to which model, not how many endpoints there are or in what order', async () => {
    const a = { model: 'a', ...thinking(true) }
    const b = { model: 'b', ...thinking(false) }
    expect(await callsOf([a, b])).toBe(1)
    expect(await callsOf([b, a])).toBe(0)
    expect(await callsOf([a, b, { ...b, url: 'http://127.0.0.1:9', weight: 0.001 }])).toBe(0)
    // The same models, the other way round; the same settings on both; one of them alone.
    expect(
      await callsOf([
        { ...a, ...thinking(false) },
        { ...b, ...thinking(true) },
      ]),
    ).toBe(1)
    expect(await callsOf([a, { ...b, ...thinking(true) }])).toBe(1)
    expect(await callsOf([a])).toBe(1)
    expect(await callsOf([b])).toBe(1)
  })

  it('of a fleet with a name: it stands for the models, whatever they are called, not for their settings', async () => {
    const named = { name: 'the judge' }
    expect(await callsOf([{ model: 'a' }], named)).toBe(1)
    expect(await callsOf([{ model: 'a-by-another-name' }], named)).toBe(0)
    expect(await callsOf([{ model: 'a', ...thinking(true) }], named)).toBe(1)
    expect(await callsOf([{ model: 'a', ...thinking(true) }, { model: 'a' }], named)).toBe(1)
  })
})
