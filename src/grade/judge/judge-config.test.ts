import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { ChatModel } from '../../chat/chat-model.ts'
import { scriptedModel } from '../../chat/scripted-model.ts'
import { parseWith } from '../../util/schema.ts'
import { ASK_PRESETS, type AskPreset } from './ask-config.ts'
import { type JudgeInput, judgeSchema } from './judge-config.ts'
import { openJudge } from './open-judge.ts'
import { recentVerdicts } from './recent-verdicts.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-judge-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ENDPOINT = { url: 'http://127.0.0.1:9', model: 'nobody' }
const FLEET = { endpoints: [ENDPOINT] }
const read = (config: JudgeInput, preset: AskPreset = 'plain') =>
  parseWith(judgeSchema(preset), config, 'judge.yaml')

describe('the section of a judge', () => {
  it("takes what it leaves out from its reader's preset, or from one that it names", () => {
    expect(read({ fleet: FLEET }).ask).toEqual(ASK_PRESETS.plain)
    expect(read({ fleet: FLEET }, 'ruscarl').ask).toEqual({ ...ASK_PRESETS.ruscarl, topK: null })
    expect(read({ fleet: FLEET, ask: { preset: 'ruscarl' } })).toEqual(read({ fleet: FLEET }, 'ruscarl'))
    const ask = { preset: 'plain', temperature: 1, shape: 'rubric' } as const
    expect(read({ fleet: FLEET, ask }, 'ruscarl').ask).toEqual({
      ...ASK_PRESETS.plain,
      temperature: 1,
      shape: 'rubric',
    })
  })

  it('keeps what is given, null as well', () => {
    const { ask } = read({ fleet: FLEET, ask: { topK: 5, topP: null, repairs: 2 } }, 'ruscarl')
    expect(ask).toMatchObject({ topK: 5, topP: null, repairs: 2, temperature: 0.7 })
  })

  it('says which key is wrong', () => {
    expect(() => read({ fleet: FLEET, ask: { temprature: 1 } } as object as JudgeInput)).toThrow(
      'judge.yaml: ask.temprature: expected one of preset, shape',
    )
    expect(() => read({ fleet: FLEET, ask: { preset: 'paper' } } as object as JudgeInput)).toThrow(
      'judge.yaml: ask.preset: expected one of plain, ruscarl, thinking, stages, proposals, got "paper"',
    )
    expect(() => read({ fleet: FLEET, ask: { repairs: 9 } })).toThrow(
      'ask.repairs: expected a number of at most 5',
    )
  })
})

describe('a judge that is opened', () => {
  const CRITERIA = [{ id: 'kind', text: 'Is kind', points: 1 }]
  const ITEM = { prompt: [{ role: 'user' as const, content: 'Hello?' }], response: 'Hi!' }
  const yes = (name = 'm', variant = '') => ({
    ...scriptedModel(() => '{"explanation": "", "criteria_met": true}', name),
    variant,
  })
  const ask = async (
    place: string | null,
    model: ChatModel = yes(),
    more: Parameters<typeof openJudge>[1] = {},
  ) => {
    const config = read({ fleet: FLEET, cache: place === null ? null : { folder: place } })
    const judge = openJudge(config, { model, folder, ...more })
    await judge.grader.grade(ITEM, CRITERIA)
    const stats = judge.stats()
    await judge.close()
    return stats
  }

  it('remembers verdicts in the folder of its cache, by model and by what its endpoints add', async () => {
    expect((await ask('verdicts')).calls).toBe(1)
    expect(await ask('verdicts')).toMatchObject({ calls: 0, cachedCalls: 1, timedCalls: 0 })
    // The model that is timed is known by all that the model itself is known by.
    expect(await ask('verdicts', yes('m', 'thinks'))).toMatchObject({ calls: 1, timedCalls: 1 })
    expect((await ask('verdicts', yes('m', 'thinks'))).calls).toBe(0)
  })

  it('only looks where it may not write', async () => {
    expect((await ask('never', yes(), { readOnly: true })).calls).toBe(1)
    expect(readdirSync(folder)).not.toContain('never')
  })

  it('without a cache goes by the store that it is given', async () => {
    const store = recentVerdicts()
    expect((await ask(null, yes(), { store })).calls).toBe(1)
    expect((await ask(null, yes(), { store })).calls).toBe(0)
    expect((await ask(null)).calls).toBe(1)
  })

  it('tells how calls ended: answered, failed, or no longer waited for', async () => {
    const heard: string[] = []
    const onCall = (outcome: string) => heard.push(outcome)
    await ask(null, yes(), { onCall })
    const broken = { ...yes(), complete: () => Promise.reject(new Error('no')) }
    await ask(null, broken, { onCall })
    const stop = new AbortController()
    const slow: ChatModel = {
      name: 'm',
      complete: ({ signal }) =>
        new Promise((_, reject) => {
          signal!.addEventListener('abort', () => reject(signal!.reason))
          setImmediate(() => stop.abort())
        }),
    }
    const judge = openJudge(read({ fleet: FLEET }), { model: slow, onCall })
    await expect(judge.grader.grade(ITEM, CRITERIA, { signal: stop.signal })).rejects.toThrow()
    await judge.close()
    expect(heard).toEqual(['answered', 'failed', 'cancelled'])
  })
})
