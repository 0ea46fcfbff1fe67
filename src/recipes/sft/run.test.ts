import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { readEvals, readMetrics, withoutTimings } from '../../runs/readers.ts'
import { sftRecipeSchema } from './config.ts'
import { sftEntry } from './entry.ts'
import { runSftRecipe } from './run.ts'

const SLOW_MS = 300_000

let folder: string
let model: string
let data: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-sft-'))
  model = writeTinyChat(join(folder, 'model'), 8192)
  // Rows of agents have long prompts: their tokens are tested where they are made.
  const rows = Array.from({ length: 6 }, (_, i) => ({
    id: `q${i}`,
    messages: [
      { role: 'user', content: `Question ${i}?` },
      { role: 'assistant', content: '<call_tool name="search">q</call_tool>' },
      { role: 'tool', content: 'It says so.' },
      { role: 'assistant', content: '<answer>yes</answer>' },
    ],
  }))
  const long = {
    messages: [
      { role: 'user', content: 'x'.repeat(9000) },
      { role: 'assistant', content: 'y' },
    ],
  }
  data = join(folder, 'sft.jsonl')
  writeFileSync(data, [...rows, long].map(row => `${JSON.stringify(row)}\n`).join(''))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const settings = (more: Record<string, unknown> = {}) =>
  sftRecipeSchema.parse({
    ...{ model: { folder: model }, data, holdOut: 2, steps: 4, batch: 2 },
    policy: { threads: 1 },
    optimizer: { learningRate: { kind: 'constant', peak: 3e-3 } },
    ...more,
  })

describe('recipe sft', () => {
  it('learns what agents wrote, makes it likelier on rows that it never saw, and resumes to the same rows', {
    timeout: SLOW_MS,
  }, async () => {
    const dir = join(folder, 'run')
    const { finished } = await runSftRecipe(settings(), { dir, resume: false })
    expect(finished).toBe(true)
    const [before, after] = [readEvals(dir)[0], readEvals(dir).at(-1)!]
    expect(before).toMatchObject({ step: 0, set: 'held-out rows', n: 2 })
    expect(after.scores.likelihood.value).toBeGreaterThan(before.scores.likelihood.value!)
    expect(readFileSync(join(dir, 'events.jsonl'), 'utf8')).toContain(
      '1 row left out: longer than 8,192 tokens',
    )
    const cut = join(folder, 'cut')
    let steps = 0
    await runSftRecipe(settings(), { dir: cut, resume: false, events: { shouldStop: () => ++steps >= 2 } })
    await runSftRecipe(settings(), { dir: cut, resume: true })
    expect(readMetrics(cut).map(row => withoutTimings(row))).toEqual(
      readMetrics(dir).map(row => withoutTimings(row)),
    )
  })

  it('plans: rows, their tokens, and how many of them are learnt; also before model and data are there', () => {
    const { lines, json } = sftEntry.plan(settings())
    expect(json).toMatchObject({
      rows: { train: 4, test: 2, notes: ['1 row left out: longer than 8,192 tokens'] },
    })
    expect(lines.join('\n')).toContain('4 rows to learn from, 2 held out')
    const later = sftEntry.plan(settings({ data: join(folder, 'none.jsonl') }))
    expect(later.lines.join('\n')).toContain('not there yet')
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['no model', { model: {} }, 'model.folder: expected a chat model to start from'],
    ['no data', { data: null }, 'data: expected a file of demonstrations'],
    ['too much held out', { holdOut: 6 }, 'holdOut: expected fewer than the 6 rows'],
  ])('refuses %s', (_, more, message) => {
    expect(() => sftEntry.plan(settings(more))).toThrow(message)
  })

  it.each(['maxTokens', 'maxObservationTokens', 'batch', 'steps'])('refuses %s that is no length', key => {
    for (const value of [...(key === 'steps' ? [] : [0]), -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '8'])
      expect(() => settings({ [key]: value })).toThrow(key)
  })

  it('takes lengths beyond all measure as no limit, and refuses a step that no memory holds', () => {
    const { json } = sftEntry.plan(settings({ maxTokens: 1e9, maxObservationTokens: 1e9, steps: 1e9 }))
    expect(json).toMatchObject({ rows: { train: 4, test: 2 } })
    expect(() => settings({ batch: 1e9 })).toThrow('batch')
  })

  it.each<[string, string | Buffer, RegExp]>([
    ['nothing', '', /odd\.jsonl: expected at least one demonstration, got none/],
    ['blank lines', '\n\n', /odd\.jsonl: expected at least one demonstration, got none/],
    ['no text in UTF-8', Buffer.from('{"messages": "\xe9"}', 'latin1'), /odd\.jsonl:1: .*byte 0xE9.*iconv/],
    ['half a row', '{"messages": [', /odd\.jsonl:1: expected JSON/],
    ['a row without messages', '{}', /odd\.jsonl:1: messages: expected a list/],
    ['a row without turns', '{"messages": []}', /odd\.jsonl:1: messages: expected at least 2 entries/],
    [
      'a role that nobody has',
      '{"messages": [{"role": "user", "content": "a"}, {"role": "bot", "content": "b"}]}',
      /odd\.jsonl:1: messages\[1\]\.role: expected one of system, user, assistant, tool/,
    ],
  ])('refuses a file with %s by its name', (_, text, message) => {
    const odd = join(folder, 'odd.jsonl')
    writeFileSync(odd, text)
    expect(() => sftEntry.plan(settings({ data: odd, holdOut: 0 }))).toThrow(message)
  })

  it('names the line of a row that cannot be learnt from', () => {
    const bad = join(folder, 'bad.jsonl')
    writeFileSync(
      bad,
      `${readFileSync(data, 'utf8').split('\n')[0]}\n{"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}\n`,
    )
    expect(() => sftEntry.plan(settings({ data: bad }))).toThrow(
      `${bad}:2: expected a message of the assistant`,
    )
  })
})
