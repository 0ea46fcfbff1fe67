import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { loadReportData } from '../../runs/report/data.ts'
import { rubricAsRewardSchema } from './config.ts'
import { rubricAsRewardEntry } from './entry.ts'
import { runRubricAsReward } from './run.ts'

const SLOW_MS = 120_000

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
    'reach the solver and the stand-ins',
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
