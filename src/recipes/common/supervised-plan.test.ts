import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseWith } from '../../util/schema.ts'
import { RECIPES } from '../index.ts'
import { sftEntry } from '../sft/entry.ts'
import { startConfig } from '../sft/start.fixture.ts'
import { knownShape } from './known-models.ts'
import { sizeOf } from './model-size.ts'
import { planTime, type TimedWork } from './step-time.ts'
import { meanRowTokens } from './supervised-plan.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-supervised-plan-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The plan of a start, or of a recipe's defaults, with changes. */
const planOf = (name: string, settings: Record<string, unknown> = {}) => {
  if (!Object.hasOwn(RECIPES, name)) return sftEntry.plan(startConfig(name, settings))
  const { schema, plan } = RECIPES[name]
  return plan(schema.parse(settings) as never)
}
const lineOf = (lines: readonly string[], word: string) => lines.find(line => line.startsWith(word))
const hoursOf = (name: string, settings: Record<string, unknown> = {}) =>
  (planOf(name, settings).json as { hours: number }).hours

const COLD_STARTS = [
  ...['logic-cold-start', 'logic-rubric-start', 'checklist-cold-start', 'arithmetic-cold-start'],
  ...['records-cold-start', 'chat-cold-start'],
]

describe('the plan of a cold start', () => {
  it.each(COLD_STARTS)('of %s says memory, time, and whether it is feasible here', name => {
    const { lines, json } = planOf(name)
    expect(lineOf(lines, 'memory')).toMatch(/about [\d.]+ [KMG]/)
    expect(lineOf(lines, 'time')).toMatch(/ on two cores, .*; ?without evaluations$|, without evaluations$/)
    expect(lineOf(lines, 'here')).toBe('here         feasible on this machine')
    expect(json).toMatchObject({
      memoryBytes: { total: expect.any(Number) },
      here: { feasible: true, because: [] },
    })
  })

  it.each(COLD_STARTS)('of %s takes longer with more steps', name => {
    const short = hoursOf(name, { steps: 100 })
    expect(short).toBeGreaterThan(0)
    expect(hoursOf(name, { steps: 1000 })).toBeGreaterThan(1.5 * short)
  })

  it.each(COLD_STARTS)(
    'of %s refuses a batch that no memory holds, and looks at few rows of a large one',
    name => {
      const { schema } = RECIPES[name] ?? sftEntry
      expect(() => parseWith(schema, { batch: 1e9 }, 'train.yaml')).toThrow(
        'train.yaml: batch: expected a number of at most 65536, got 1000000000',
      )
      const startedMs = performance.now()
      planOf(name, { batch: 65_536, steps: 10 })
      expect(performance.now() - startedMs).toBeLessThan(20_000)
    },
  )

  it('of more steps than anybody would wait for is not feasible', () => {
    const { lines, json } = planOf('records-cold-start', { steps: 10_000_000 })
    expect(lineOf(lines, 'here')).toMatch(/not feasible on this machine: it would take about [\d,]+ hours/)
    expect(json).toMatchObject({ here: { feasible: false } })
  })
})

describe('the plan of a learned verifier', () => {
  it('goes by the longest rows that there may be before its rows are there, by their lengths afterwards', () => {
    const file = join(folder, 'labels.jsonl')
    const before = planOf('learned-verifier', { data: { file } })
    expect(lineOf(before.lines, 'time')).toContain(
      'if every row is as long as it may be; without evaluations',
    )
    const row = (i: number) => ({ criterion: 'is short', prompt: `p${i}`, response: 'yes', met: i % 2 === 0 })
    writeFileSync(file, Array.from({ length: 64 }, (_, i) => `${JSON.stringify(row(i))}\n`).join(''))
    const after = planOf('learned-verifier', { data: { file } })
    expect(lineOf(after.lines, 'time')).not.toContain('may be')
    expect(hoursOf('learned-verifier', { data: { file } })).toBeLessThan(
      (before.json as { hours: number }).hours / 4,
    )
  })
})

describe('the plan of sft', () => {
  const data = join(folder, 'rows.jsonl')

  it('knows time and memory of a published model before it is there', () => {
    const { lines } = planOf('sft', { model: { folder: join(folder, 'Qwen2.5-0.5B-Instruct') }, data })
    expect(lineOf(lines, 'time')).toContain('if every row is as long as it may be')
    expect(lineOf(lines, 'here')).toMatch(/feasible/)
  })

  it('refuses what this machine has no memory or no time for', () => {
    const { lines } = planOf('sft', { model: { folder: join(folder, 'Qwen3-8B') }, data, maxTokens: 16_384 })
    expect(lineOf(lines, 'here')).toMatch(
      /not feasible on this machine: it (?:needs about .* of memory|would take about)/,
    )
  })

  it('says that it cannot tell of a model that nobody knows', () => {
    const { lines } = planOf('sft', { model: { folder: join(folder, 'mine') }, data })
    expect(lineOf(lines, 'time')).toBeUndefined()
    expect(lineOf(lines, 'here')).toBe('here         unknown before the model is there')
  })

  it('says nothing of this machine where a server trains', () => {
    const policy = { kind: 'tinker', url: 'http://127.0.0.1:1', model: 'm', tokenizer: join(folder, 'mine') }
    const { lines } = planOf('sft', { policy, data })
    expect(lineOf(lines, 'here')).toBeUndefined()
    expect(lineOf(lines, 'memory')).toBeUndefined()
  })
})

describe('work of supervised learning', () => {
  const shape = knownShape('Qwen2.5-0.5B')!
  const { active, parameters } = sizeOf(shape)
  const work: TimedWork = {
    ...{ model: 'm', shape, lora: null, reference: false, scorings: 0, steps: 100, supervised: true },
    ...{ minibatches: 1, epochs: 1, maxRows: 64, recompute: false },
    roles: [{ name: 'policy', groups: 1000, samples: 1, promptTokens: 2, newTokens: 0 }],
  }
  const nothing = { samples: 0, promptTokens: 0, newTokens: 1 }

  it('is six operations a parameter and token, and two for what is sampled first', () => {
    // Attention of two tokens, and the optimiser, are next to nothing.
    const { hours, hoursAtHalf } = planTime(work, nothing)
    expect((hours * 3600) / ((100 * 6 * active * 2000) / 2e11 + (100 * parameters) / 1e9)).toBeCloseTo(1, 2)
    expect(hoursAtHalf).toBeUndefined()
    const sampled = planTime({ ...work, steps: 0 }, { ...nothing, samples: 12_000 }).hours * 3600
    expect(sampled / ((2 * active * 12_000) / 7e10 + 1)).toBeCloseTo(1, 1)
  })

  it('takes two cores longer than their operations where a model is small', () => {
    const small = { ...shape, layers: 1, hiddenSize: 64, intermediateSize: 64, vocabSize: 100 }
    const time = planTime({ ...work, shape: small }, nothing).hours * 3600
    expect(time / ((4 * 100 * 6 * sizeOf(small).active * 2000) / 2e11)).toBeCloseTo(1, 1)
  })

  it('takes the lengths of rows from the first step to the last', () => {
    const row = (length: number) => ({
      promptTokens: new Int32Array(length),
      responseTokens: new Int32Array(1),
    })
    expect(meanRowTokens(step => [row(step)], 100)).toBe((1 + 34 + 67 + 100) / 4 + 1)
    expect(meanRowTokens(step => [row(step)], 0)).toBe(2)
  })
})
