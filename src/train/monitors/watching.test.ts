import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lossPreset } from '../../rl/loss-presets.ts'
import { creditRollouts, datumsOf, type Graded } from '../../rl/rollout.ts'
import { readEvents, readMetrics, readRollouts } from '../../runs/readers.ts'
import type { EventRow, RolloutRow } from '../../runs/rows.ts'
import { RunFolder } from '../../runs/run-folder.ts'
import { FakePolicy } from '../fake-policy.fixture.ts'
import { type LoopSettings, train } from '../loop.ts'
import { type HeldOut, learntFrom, type Recipe } from '../recipe.ts'
import { monitorsSchema } from './config.ts'
import { repeatedShare } from './responses.ts'
import { monitoredMetrics } from './watched-update.ts'

const settings = (changes: Partial<LoopSettings> = {}): LoopSettings => ({
  steps: 24,
  seed: 7,
  optimizer: { maxGradNorm: 1 },
  learningRate: { kind: 'constant', peak: 1, warmup: 0, floor: 0 },
  evalEvery: 0,
  checkpointEvery: 5,
  keepCheckpoints: 100,
  maxMinutes: null,
  configHash: 'hash',
  monitors: monitorsSchema.parse({ window: 4 }),
  ...changes,
})

const PROBLEMS = Array.from({ length: 20 }, (_, i) => `p${i}`)

type Item = Graded<string, number>
const opinionsOn = (items: readonly Item[]) => items.map(({ grade: length }) => (length > 3 ? 0 : 1))
const opinionOf = async (_step: number, items: readonly Item[]): Promise<HeldOut> => ({
  scores: opinionsOn(items),
})

/** Sample 1 is longer than sample 0 and paid for it; another grader's opinion falls as the steps go on. */
const recipeWith = (opinion = opinionOf): Recipe<Item[][]> => ({
  rollOut: (_step, io) =>
    io.rollOut({
      problems: PROBLEMS,
      prompt: problem => [problem.charCodeAt(1)],
      samples: 2,
      sampling: { maxTokens: 4, temperature: 1 },
      grade: async items => items.map(({ rollout }) => rollout.tokens.length),
      reward: grade => ({ reward: grade, parts: {} }),
      last: true,
    }),
  learn: async (step, groups) => {
    const advantages_P_G = groups.map(group => group.map((_, i) => 2 * i - 1))
    const credited = creditRollouts(groups, advantages_P_G)
    const how = { loss: lossPreset('trl:grpo'), temperature: 1, minibatches: 1, epochs: 1 }
    const rowOf = ({ problem, reward, rollout }: Item): RolloutRow => ({
      step,
      problemId: problem,
      prompt: problem,
      response: rollout.tokens.join(' '),
      sample: rollout.sample,
      reward,
      finishReason: rollout.end,
    })
    return {
      phases: [{ name: 'policy', datums: datumsOf(credited), ...how }],
      metrics: { reward: groups[0][1].grade },
      rollouts: learntFrom(credited, rowOf),
      heldOut: opinion(step, groups.flat()),
    }
  },
  evaluate: async () => [],
})
const recipe = recipeWith()

/** Responses of two tokens; from step `onset` on the second one of a group has twelve and is cut off. */
const policyFrom = (onset: number, done = 0) => {
  let step = done
  const policy: FakePolicy = new FakePolicy((_, index) =>
    Array.from({ length: index === 1 && step >= onset ? 12 : 2 }, (_, i) => i % 4),
  )
  const { sample } = policy
  policy.sample = (...args) => {
    step++
    return sample.apply(policy, args)
  }
  return policy
}

const timeless = ({ at: _, ...event }: EventRow) => event

describe('monitors in a training', () => {
  let folder: string
  let runs: RunFolder[]
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gradus-monitors-'))
    runs = []
  })
  afterEach(() => {
    for (const run of runs) run.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const newRun = (name: string) => {
    const run = RunFolder.create(join(folder, name), { config: {}, steps: 24 })
    runs.push(run)
    return run
  }

  it('a warning goes to the progress, to the events with its metrics, and keeps the rollouts that show it', async () => {
    const messages: string[] = []
    const run = newRun('run')
    await train(policyFrom(9), recipe, run, settings(), 0, { onMessage: text => messages.push(text) })

    const events = readEvents(run.dir)
    expect(events.map(({ monitor }) => monitor).toSorted()).toEqual([
      ...['heldOutFalls', 'lengthDrift', 'repetition', 'truncation'],
    ])
    const truncation = events.find(({ monitor }) => monitor === 'truncation')!
    expect(truncation).toMatchObject({ level: 'warning', turn: 'on', figures: { rate: 0.5 } })
    expect(truncation.message).toBe('Truncated responses: 50.0% of responses ran into the token limit')
    expect(truncation.step).toBe(12)

    expect(messages).toHaveLength(4)
    const said = messages.find(text => text.includes('Truncated'))!
    expect(said.split('\n')[0]).toBe(`warning at step 12, ${truncation.message}`)
    expect(said).toContain('why it matters: a response that is cut off')
    expect(said).toContain('what to try:    raise rollout.maxTokens')

    const kept = readRollouts(run.dir).filter(({ monitor }) => monitor !== undefined)
    expect(
      kept.every(({ monitor, step }) => events.some(e => e.monitor === monitor && e.step === step)),
    ).toBe(true)
    for (const { monitor } of events) expect(kept.filter(row => row.monitor === monitor)).toHaveLength(3)
    const cut = kept.filter(({ monitor }) => monitor === 'truncation')
    expect(cut.every(({ finishReason, sample }) => finishReason === 'length' && sample === 1)).toBe(true)
    expect(new Set(cut.map(({ problemId }) => problemId)).size).toBe(3)
    const paid = kept.filter(({ monitor }) => monitor === 'heldOutFalls')
    expect(paid.map(({ reward, heldOut }) => [reward, heldOut])).toEqual([...Array(3)].map(() => [12, 0]))
    expect(readMetrics(run.dir)[20]).toMatchObject({ heldOut: 0.5, lengthAdvantage: 1 })
    expect(readMetrics(run.dir)[20].repetition).toBeCloseTo(5 / 18, 12)
  })

  it('keeps rollouts that the held-out grader was asked about, and says what asking took', async () => {
    const run = newRun('asked')
    // Of half of the problems, and never of step 5.
    const some = recipeWith(async (step, items) => ({
      scores: step === 5 ? null : opinionsOn(items).map((score, i) => (Math.floor(i / 2) % 2 ? score : null)),
      time: { heldOutJudgeCallCount: 20, heldOutJudgeCall: 0.25 },
    }))
    await train(policyFrom(9), some, run, settings())
    const rows = readMetrics(run.dir)
    expect(rows[4]).not.toHaveProperty('heldOut')
    expect(rows[5]).toMatchObject({ heldOut: 1 })
    expect(rows[5].time).toMatchObject({
      heldOutJudgeCallCount: 20,
      heldOutJudgeCall: 0.25,
      sample: expect.any(Number),
    })
    const kept = readRollouts(run.dir).filter(({ monitor }) => monitor === 'heldOutFalls')
    expect(kept.map(({ heldOut, problemId }) => [heldOut, Number(problemId.slice(1)) % 2])).toEqual([
      ...[
        [0, 1],
        [0, 1],
        [0, 1],
      ],
    ])
  })

  it('says the same after a stop and a resume, wherever it was stopped', async () => {
    const whole = newRun('whole')
    await train(policyFrom(9), recipe, whole, settings())
    for (const stop of [5, 10, 12]) {
      const run = newRun(`stopped at ${stop}`)
      const steps = { checkpointEvery: 1 }
      const shouldStop = () => readMetrics(run.dir).length === stop
      await train(policyFrom(9), recipe, run, settings(steps), 0, { shouldStop })
      const from = run.resume('hash').step
      expect(from).toBe(stop)
      await train(policyFrom(9, from), recipe, run, settings(steps), from)
      expect(readEvents(run.dir).map(timeless)).toEqual(readEvents(whole.dir).map(timeless))
      expect(readRollouts(run.dir)).toEqual(readRollouts(whole.dir))
    }
  })

  it('watches without being asked, and not at all when told not to', async () => {
    const run = newRun('unasked')
    await train(policyFrom(1), recipe, run, settings({ monitors: undefined }))
    expect(readEvents(run.dir).map(({ monitor }) => monitor)).toContain('truncation')
    const off = newRun('off')
    await train(policyFrom(1), recipe, off, settings({ monitors: null }))
    expect(readEvents(off.dir)).toEqual([])
    expect(readRollouts(off.dir).every(({ monitor }) => monitor === undefined)).toBe(true)
  })

  it('a gap between sampler and trainer is a sign, but not where another policy samples on purpose', async () => {
    const mismatched = () => {
      const policy = policyFrom(99)
      const { accumulate } = policy
      policy.accumulate = async (...args) => ({
        ...(await accumulate.apply(policy, args)),
        maxLogprobDifference: 0.3,
      })
      return policy
    }
    const monitorsOf = async (name: string, changes: Partial<LoopSettings>) => {
      const run = newRun(name)
      await train(mismatched(), recipe, run, settings(changes))
      return readEvents(run.dir).map(({ monitor }) => monitor)
    }
    expect(await monitorsOf('in step', {})).toEqual(['samplerMismatch'])
    expect(await monitorsOf('ahead', { pipeline: true })).toEqual([])
    const monitors = monitorsSchema.parse({ window: 4, samplerMismatch: { gap: 0.2 } })
    expect(await monitorsOf('asked for', { pipeline: true, monitors })).toEqual(['samplerMismatch'])
  })
})

describe('metrics of rollouts', () => {
  it('repeats are sequences of four that were said before', () => {
    expect(repeatedShare([1, 2, 3])).toBe(0)
    expect(repeatedShare([1, 2, 3, 4, 5, 6])).toBe(0)
    // Of the sequences 1231 2312 3123 1231 2312, the last two are repeats.
    expect(repeatedShare([1, 2, 3, 1, 2, 3, 1, 2])).toBeCloseTo(2 / 5, 12)
    expect(repeatedShare(Int32Array.of(7, 7, 7, 7, 7, 7, 7))).toBeCloseTo(3 / 4, 12)
    // 1,23 is not 12,3.
    expect(repeatedShare([1, 23, 1, 1, 12, 3, 1, 1])).toBe(0)
  })

  it('length is paid when longer responses have higher advantages', () => {
    const of = (pairs: [length: number, advantage: number][]) =>
      monitoredMetrics(pairs.map(([length, advantage]) => ({ tokens: new Int32Array(length), advantage })))
    expect(
      of([
        [1, -1],
        [2, 0],
        [3, 1],
      ]).lengthAdvantage,
    ).toBeCloseTo(1, 12)
    expect(
      of([
        [1, 1],
        [2, 0],
        [3, -1],
      ]).lengthAdvantage,
    ).toBeCloseTo(-1, 12)
    expect(
      of([
        [2, 1],
        [2, -1],
      ]).lengthAdvantage,
    ).toBeNull()
    expect(monitoredMetrics([])).toEqual({ repetition: null, lengthAdvantage: null })
  })
})
