import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { loadReportData } from '../../runs/report/data.ts'
import { readJsonl } from '../../util/jsonl.ts'
import { rubricAsRewardSchema } from './config.ts'
import { rubricAsRewardEntry } from './entry.ts'
import { runRubricAsReward } from './run.ts'

const SLOW_MS = 300_000

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-rubric-as-reward-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the settings of the grader', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it(
    'reach the solver and the proxies',
    async () => {
      const start = vi.spyOn(LogicSolver, 'start')
      const config = rubricAsRewardSchema.parse({
        condition: 'hybrid',
        model: { folder: 'package:models/logic-start' },
        policy: { threads: 1, spinning: false },
        steps: 1,
        rollout: { prompts: 2, samples: 2 },
        evaluation: { problems: 2, samples: 1, greedy: false, sets: ['train-distribution'] },
        grader: {
          solver: { timeoutMs: 50, memory: 100, groundWork: 900_000, uniqueNames: true },
          proxies: { stepShare: 1, fullSteps: 100 },
        },
      })
      const dir = join(folder, 'settings')
      await runRubricAsReward(config, { dir, resume: false })
      expect(start).toHaveBeenCalledExactlyOnceWith(config.grader?.solver)
      expect(config.grader?.solver).toEqual({
        timeoutMs: 50,
        memory: 100,
        groundWork: 900_000,
        uniqueNames: true,
      })
      const [{ criteria }] = loadReportData(dir).metrics
      // A step earns a hundredth, words nothing: with the defaults it is above .6.
      expect(criteria!.C5).toBeGreaterThan(0)
      expect(criteria!.C5).toBeLessThan(0.2)
    },
    SLOW_MS,
  )
})

describe('a baseline', () => {
  const config = rubricAsRewardSchema.parse({
    condition: 'baseline',
    model: { folder: 'package:models/logic-start' },
    policy: { threads: 1, spinning: false },
    steps: 80,
    evaluation: { problems: 3, problemsAtStart: 2, samples: 1, greedy: false, sets: ['train-distribution'] },
  })

  it('plans no steps', () => {
    const { lines, json } = rubricAsRewardEntry.plan(config)
    expect(json.steps).toBe(0)
    expect(lines.join('\n')).not.toContain('before the first step')
  })

  it(
    'is finished after its only evaluation, which has all problems',
    async () => {
      const dir = join(folder, 'baseline')
      expect(await runRubricAsReward(config, { dir, resume: false })).toMatchObject({
        step: 0,
        finished: true,
      })
      const { info, status, evals } = loadReportData(dir)
      expect(info.steps).toBe(0)
      expect(status).toBe('finished')
      expect(evals.map(({ step, n }) => [step, n])).toEqual([[0, 3]])
    },
    SLOW_MS,
  )
})

describe('lengths that grow with success', () => {
  const config = rubricAsRewardSchema.parse({
    condition: 'proof',
    model: { folder: 'package:models/logic-start' },
    policy: { threads: 1, spinning: false },
    task: { hops: { kind: 'growing', from: 1, to: 3, window: 1, threshold: 0.01, longestShare: 0.75 } },
    steps: 3,
    rollout: { prompts: 4, samples: 2 },
    evaluation: {
      problems: 2,
      samples: 1,
      greedy: false,
      sets: ['train-distribution'],
      hops: [2],
      hopProblems: 2,
    },
  })
  const run = async (name: string, stopAfter: number, resume = false) => {
    let steps = resume ? 2 : 0
    const events = { onStep: () => steps++, shouldStop: () => steps >= stopAfter }
    const dir = join(folder, name)
    await runRubricAsReward(config, { dir, resume, events })
    return loadReportData(dir)
  }

  it(
    'are the same in a run that was stopped and went on',
    async () => {
      const whole = await run('whole', 99)
      await run('in parts', 2)
      const parts = await run('in parts', 99, true)
      const rows = ({ metrics }: typeof whole) => metrics.map(({ time: _, ...row }) => row)
      expect(rows(parts)).toEqual(rows(whole))
      expect(whole.metrics.map(({ longestHops }) => longestHops)).toEqual([1, 2, 3])
      expect(whole.evals.map(({ set }) => set)).toContain('2 hops')
    },
    SLOW_MS,
  )
})

describe('continued supervision', () => {
  it(
    'learns new short proofs, evaluated as the reinforcement is, its demonstrations counted',
    async () => {
      const config = rubricAsRewardSchema.parse({
        method: 'supervised',
        model: { folder: 'package:models/logic-start' },
        policy: { threads: 1, spinning: false },
        demonstrations: {
          batch: 3,
          curriculum: { kind: 'custom', sources: [{ hops: 1 }], keyframes: [{ at: 0, weights: [1] }] },
        },
        steps: 2,
        rollout: { maxTokens: 40 },
        evaluation: {
          every: 1,
          problems: 2,
          problemsBetween: 1,
          samples: 1,
          greedy: false,
          sets: ['train-distribution'],
          hops: [1, 2],
          hopProblems: 2,
          hopsBetween: [1],
        },
      })
      const dir = join(folder, 'supervised')
      expect(await runRubricAsReward(config, { dir, resume: false })).toMatchObject({
        step: 2,
        finished: true,
      })
      const { metrics, evals } = loadReportData(dir)
      for (const { tokens, rollouts, loss } of metrics) {
        // Three answers of one hop, each with its tags and at least three steps of several words.
        expect(tokens).toBeGreaterThan(3 * 15)
        expect(rollouts).toBe(0)
        expect(loss).toBeGreaterThan(0)
      }
      const at = (step: number) => evals.filter(row => row.step === step).map(({ set, n }) => [set, n])
      expect(at(1)).toEqual([
        ['train-distribution', 1],
        ['1 hop', 1],
      ])
      expect(at(2)).toEqual([
        ['train-distribution', 2],
        ['1 hop', 2],
        ['2 hops', 2],
      ])
    },
    SLOW_MS,
  )

  it('is refused with words that the start lacks', () => {
    const config = rubricAsRewardSchema.parse({
      method: 'supervised',
      model: { folder: 'package:models/logic-start' },
      demonstrations: { kinds: 24 },
    })
    expect(() => rubricAsRewardEntry.plan(config)).toThrow(
      'demonstrations: expected what takes the 96 tokens of the model',
    )
  })
})

describe('soft criteria by a learned verifier', () => {
  it(
    'are judged by one that learnt from labelled outputs of the start, in the same run',
    async () => {
      const config = rubricAsRewardSchema.parse({
        condition: 'hybrid',
        softCriteria: 'learned',
        verifier: { problems: 40, samples: 2, steps: 3, batch: 4 },
        model: { folder: 'package:models/logic-start' },
        policy: { threads: 1, spinning: false },
        steps: 1,
        rollout: { prompts: 2, samples: 2 },
        evaluation: { problems: 2, samples: 1, greedy: false, sets: ['train-distribution'] },
      })
      const dir = join(folder, 'learned')
      await runRubricAsReward(config, { dir, resume: false })
      const labels = readJsonl(join(dir, 'verifier-labels.jsonl'), row => row)
      expect(labels).toHaveLength(2 * 2 * 40)
      expect(labels[0]).toMatchObject({ criterion: 'The reasoning uses the premises that it needs.' })
      expect(loadReportData(join(dir, 'verifier')).evals.at(-1)).toMatchObject({ set: 'held-out', step: 3 })
      const [{ criteria }] = loadReportData(dir).metrics
      // Three steps of learning leave it unsure; the proxies give whole and half marks.
      for (const id of ['C4', 'C5']) {
        expect(criteria![id]).toBeGreaterThan(0.01)
        expect(criteria![id]).toBeLessThan(0.99)
      }
      // Labels and verifier are those of the run, however far it goes.
      const longer = { ...config, steps: 2 }
      expect(await runRubricAsReward(longer, { dir, resume: true })).toMatchObject({ step: 2 })
      const files = readdirSync(dir).filter(name => name.startsWith('verifier'))
      expect(files.sort()).toEqual(['verifier', 'verifier-labels.jsonl'])
    },
    SLOW_MS,
  )
})
