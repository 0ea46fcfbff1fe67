import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TINY } from '../policy/local/tiny-model.fixture.ts'
import { correctionOf, type TinkerSettings } from '../policy/tinker/settings.ts'
import { SplitWorld } from '../policy/tinker/split-world.fixture.ts'
import { grpoAdvantages } from '../rl/advantages.ts'
import { lossPreset } from '../rl/loss-presets.ts'
import { creditRollouts, datumsOf, type Graded } from '../rl/rollout.ts'
import { evalRow } from '../runs/eval-row.fixture.ts'
import { readMetrics, withoutTimings } from '../runs/readers.ts'
import { RunFolder } from '../runs/run-folder.ts'
import { Rng } from '../util/rng.ts'
import { train } from './loop.ts'
import { learntFrom, type Recipe } from './recipe.ts'

const SLOW_MS = 240_000
const STEPS = 3

let world = new SplitWorld()
beforeEach(() => {
  world = new SplitWorld()
})
afterEach(() => world.close())

/** Groups of four, paid for tokens above 8. */
const recipe: Recipe<Graded<number, number>[][]> = {
  rollOut: (step, io) =>
    io.rollOut({
      problems: [2 * step, 2 * step + 1],
      prompt: problem => {
        const rng = new Rng(`prompt ${problem}`)
        return Array.from({ length: 4 }, () => rng.int(TINY.vocabSize))
      },
      ...{ samples: 4, sampling: { maxTokens: 8, stopTokens: [0] } },
      grade: async items =>
        items.map(({ rollout: { tokens } }) => tokens.filter(token => token > 8).length / tokens.length),
      reward: grade => ({ reward: grade, parts: {} }),
      last: true,
    }),
  learn: async (step, groups) => {
    const { advantages_P_G } = grpoAdvantages(groups.map(group => group.map(({ grade }) => grade)))
    const credited = creditRollouts(groups, advantages_P_G)
    const row = () => ({ step, problemId: '', sample: 0, prompt: '', response: '', reward: 0 })
    return {
      phases: [
        { name: 'policy', datums: datumsOf(credited, {}), loss: lossPreset('trl:grpo'), temperature: 1 },
      ],
      metrics: {},
      rollouts: learntFrom(credited, row),
    }
  },
  evaluate: async step => [evalRow(0, { step, n: 1 })],
}

/** Trains up to a step, from the beginning or from where the run was stopped. @returns its rows so far */
const runTo = async (
  settings: TinkerSettings,
  dir: string,
  { stopAt, pipeline, resume = false }: { stopAt: number; pipeline: boolean; resume?: boolean },
) => {
  const run = resume ? RunFolder.open(dir) : RunFolder.create(dir, { config: {} })
  const policy = await world.open(settings)
  const from = resume ? run.resume('split') : null
  if (from) await policy.load(from.dir)
  let now = 0
  const loop = {
    ...{ steps: STEPS, seed: 3, monitors: null, evalEvery: 0, checkpointEvery: 1, configHash: 'split' },
    learningRate: { kind: 'constant' as const, peak: 0.02, warmup: 0, floor: 0 },
    ...{ pipeline, correction: correctionOf(settings) },
  }
  await train(policy, recipe, run, loop, from?.step ?? 0, {
    onStep: ({ step }) => {
      now = step
    },
    shouldStop: () => now === stopAt,
  })
  await policy.close()
  run.close()
  return readMetrics(dir).map(row => withoutTimings(row))
}

const runFolder = () => join(mkdtempSync(join(tmpdir(), 'gradus-split-')), 'run')

describe('a run that samples on an inference server', { timeout: SLOW_MS }, () => {
  it('measures how stale its rollouts are, and stopping changes nothing', async () => {
    const { settings } = await world.servers()
    const whole = await runTo(settings, runFolder(), { stopAt: STEPS, pipeline: true })
    // The first step is sampled before anything is learnt; each later one beside the update of the one before.
    expect(whole.map(({ staleness }) => staleness)).toEqual([
      ...[
        { mean: 0, max: 0 },
        { mean: 1, max: 1 },
        { mean: 1, max: 1 },
      ],
    ])
    expect(whole[0].logprobGapMax).toBeLessThan(1e-4)
    expect(whole[1].logprobGapMax).toBeGreaterThan(1e-3)
    const dir = runFolder()
    await runTo(settings, dir, { stopAt: 2, pipeline: true })
    const rest = await runTo(settings, dir, { stopAt: STEPS, pipeline: true, resume: true })
    expect(rest).toEqual(whole)
  })

  it('corrects for a sampler that reckons otherwise, and says by how much', async () => {
    const bias = -0.2
    const { settings } = await world.servers({}, { bias })
    const corrected = await runTo(settings, runFolder(), { stopAt: 1, pipeline: false })
    const plain = { ...settings, sampler: { ...settings.sampler!, correction: null } }
    const uncorrected = await runTo(plain, runFolder(), { stopAt: 1, pipeline: false })
    for (const [row] of [corrected, uncorrected]) {
      expect(row.staleness).toEqual({ mean: 0, max: 0 })
      expect(row.logprobGapMax).toBeCloseTo(-bias, 3)
      expect(row.ratioMax).toBeCloseTo(Math.exp(-bias), 3)
    }
    // A ratio of 1.22 is beyond the clip where the sampler's log-probs are taken for the trainer's.
    expect(uncorrected[0].clipFraction).toBeGreaterThan(0)
    expect(corrected[0].clipFraction).toBe(0)
    // What is learnt is weighed by that ratio alone.
    const { settings: exact } = await world.servers()
    const [unbiased] = await runTo(exact, runFolder(), { stopAt: 1, pipeline: false })
    expect(corrected[0].gradNorm as number).toBeCloseTo(Math.exp(-bias) * (unbiased.gradNorm as number), 3)
  })
})
