import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BankFile, HashedNgrams, RubricBank, readBankFile } from '../../memory/index.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { signedScore } from '../../rubric/linear.ts'
import { readMetrics, withoutTimings } from '../../runs/readers.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import { RunFolder } from '../../runs/run-folder.ts'
import type { ResponseItem, ScoredTask } from '../../tasks/scored-response.ts'
import { FakePolicy } from '../../train/fake-policy.fixture.ts'
import { type LoopSettings, train } from '../../train/index.ts'
import { decidingHash } from '../common/deciding.ts'
import { LessonMemory } from '../options/lesson-memory.ts'
import { checkRuscarlSettings } from './check.ts'
import { ruscarlSchema } from './config.ts'
import { ruscarl } from './recipe.ts'

const RUBRIC: Rubric = {
  criteria: Array.from({ length: 6 }, (_, i) => ({ id: `c${i}`, text: `does ${i}`, points: i + 1 })),
}

/** Prompt token of problem n is n; a criterion shown is one token more, 100 + its number. */
const task: ScoredTask<number> = {
  ...{ train: [], tests: {}, label: 'trips', notes: [] },
  id: problem => `trip ${problem}`,
  rubric: () => RUBRIC,
  question: problem => `trip ${problem}`,
  prompt: (problem, shown = []) => [problem, ...shown.map(({ text }) => 100 + Number(text.slice(5)))],
  show: tokens => Array.from(tokens).join(' '),
  grade: async (items: readonly ResponseItem<number>[]) =>
    items.map(({ tokens }) => {
      const verdicts = RUBRIC.criteria.map(({ id }) => ({
        criterionId: id,
        met: tokens.includes(Number(id.slice(1))),
        source: 'rule' as const,
      }))
      return { score: signedScore(RUBRIC, verdicts).score, verdicts, wellFormed: true }
    }),
}

/** One of four meets criterion 5, two meet criterion 1, nobody the others; with a prompt a sample, the place says which it is. */
const respond = (prompt: number, index: number) => {
  const g = (prompt + index) % 4
  return g === 0 ? [5, 1] : g === 1 ? [1] : [9]
}

describe('ruscarl with a memory', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gradus-memory-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const settingsOf = (more: Record<string, unknown> = {}) =>
    ruscarlSchema.parse({
      steps: 6,
      rollout: { prompts: 2, samples: 4, maxTokens: 4 },
      scaffold: { group: { kind: 'all' }, decay: { kind: 'constant' } },
      loss: { preset: 'gradus:ruscarl', kl: { kind: 'none', coef: 0 } },
      minibatches: 1,
      dropZero: false,
      memory: { kind: 'bank', retrieval: 'within' },
      ...more,
    })

  /** Problems 0, 1, 2, 3, 0, 1, ...: each comes back two steps later. */
  const trained = async (
    name: string,
    more: Record<string, unknown> = {},
    loop: Partial<LoopSettings> = {},
    stopAfter: number | null = null,
  ) => {
    const config = settingsOf(more)
    const { memory: settings } = config
    const dir = join(folder, name)
    const run = RunFolder.create(dir, { config: {} })
    const path = join(dir, 'bank.jsonl')
    const prompts: number[][][] = []
    const part = async (from: number, shouldStop?: () => boolean) => {
      const policy = new FakePolicy(respond)
      const bank = new RubricBank({ embedder: new HashedNgrams() })
      const file = new BankFile(path, { everySteps: 2 })
      const hints =
        settings.kind === 'none'
          ? undefined
          : new LessonMemory({ settings, bank, file, task, seed: 1, steps: config.steps })
      const recipe = ruscarl(config, {
        ...{ policy, task, hints, problem: index => index % 4, evaluate: async () => [], gradeBatch: 1 },
      })
      const looped = {
        ...{ steps: config.steps, seed: config.seed, optimizer: {}, evalEvery: 0, checkpointEvery: 0 },
        learningRate: { kind: 'constant' as const, peak: 1, warmup: 0, floor: 0 },
        ...{ keepCheckpoints: 2, maxMinutes: null, configHash: 'hash', monitors: null, ...loop },
      }
      await train(policy, recipe, run, looped, from, shouldStop ? { shouldStop } : {})
      prompts.push(...policy.sampled.map(request => request.prompts.map(own => [...own])))
    }
    if (stopAfter === null) await part(0)
    else {
      let steps = 0
      await part(0, () => ++steps >= stopAfter)
      await part(run.resume('hash').step)
    }
    run.close()
    // The policy of this test counts its own updates there.
    const rows = readMetrics(dir).map(({ logprobGapMax: _, ...row }) => withoutTimings(row as MetricsRow))
    return { prompts, rows, bank: () => readBankFile(path), text: () => readFileSync(path, 'utf8'), dir }
  }

  it('shows what the attempts before missed and somebody met, and trains on the plain prompt', async () => {
    const { prompts, rows, bank } = await trained('plain')
    // The bank is empty; then new problems show what similar ones missed, and each its own lesson when it comes back.
    expect(prompts[0]).toEqual([[0], [1]])
    expect(prompts[1][0]).toEqual([2, 105, 101])
    expect(rows.map(({ fallbacks }) => fallbacks)).toEqual([2, 2, 0, 0, 0, 0])
    const [first] = prompts[2]
    expect(first[0]).toBe(0)
    expect(first.slice(1)).toContain(105)
    expect(first.slice(1)).not.toContain(100)
    expect(rows[2]).toMatchObject({ bankSize: 4, referred: 1, lessonsKept: 1, rewardFullScaffold: null })
    expect(rows[0]).toMatchObject({ bankSize: 2, referred: 0 })
    const { items, step } = await bank()
    expect(step).toBe(6)
    expect(items.map(({ item }) => item.question).sort()).toEqual(['trip 0', 'trip 1', 'trip 2', 'trip 3'])
  })

  it('has the same prompts and rows without a memory as if there were no such setting', async () => {
    expect(decidingHash(settingsOf({ memory: { kind: 'none' } }))).not.toBe(decidingHash(settingsOf()))
    const none = await trained('none', { memory: { kind: 'none' } })
    expect(none.prompts.flat(2).filter(token => token >= 100)).toHaveLength(6 * 8 * 6)
    expect(none.rows.every(row => !('bankSize' in row))).toBe(true)
  })

  it('shows lessons beside the rubric where that is asked for', async () => {
    const { prompts } = await trained('beside', {
      memory: { kind: 'bank', retrieval: 'within', show: 'beside' },
    })
    // A question's own criteria are in its rubric already: nothing is said twice.
    expect(prompts[4][0]).toEqual([0, 100, 101, 102, 103, 104, 105])
  })

  it('as placebo shows lessons of other questions', async () => {
    const memory = { kind: 'bank', retrieval: 'both', placebo: true }
    const { rows, prompts } = await trained('placebo', { memory })
    expect(rows[3].referred).toBe(1)
    expect(prompts[3][0].length).toBeGreaterThan(1)
  })

  it.each([
    ['in turns', {}],
    ['sampled ahead', { pipeline: true }],
  ])('stopped and resumed, %s, shows the same, learns the same and has the same bank', async (_, more) => {
    const memory = { kind: 'bank', retrieval: 'both' }
    const loop = { checkpointEvery: 1, pipeline: 'pipeline' in more }
    const whole = await trained('whole', { memory, ...more }, loop)
    for (const after of [1, 3, 4]) {
      const cut = await trained(`cut ${after}`, { memory, ...more }, loop, after)
      expect(cut.rows).toEqual(whole.rows)
      expect(cut.text()).toBe(whole.text())
    }
  })

  it('sampled ahead, does not know yet what the step before teaches', async () => {
    const more = { rollout: { prompts: 4, samples: 4, maxTokens: 4 }, pipeline: true }
    const { prompts } = await trained('ahead', more, { pipeline: true })
    // The same four problems each step: step 2 was begun before step 1 was learnt from.
    expect(prompts[1].every(own => own.length === 1)).toBe(true)
    expect(prompts[2].every(own => own.length > 1)).toBe(true)
    const { prompts: inTurns } = await trained('in turns', { rollout: more.rollout })
    expect(inTurns[1].every(own => own.length > 1)).toBe(true)
  })

  it('refuses what would make lessons depend on time', () => {
    const config = settingsOf({ exploration: { dynamicSampling: {} } })
    expect(() => checkRuscarlSettings(config)).toThrow(
      'exploration.dynamicSampling: expected null beside memory',
    )
  })
})
