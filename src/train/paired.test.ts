import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LocalPolicy } from '../policy/local/local-policy.ts'
import type { ModelSource } from '../policy/local/model-source.ts'
import { PairedPolicy } from '../policy/local/paired-policy.ts'
import { TINY } from '../policy/local/tiny-model.fixture.ts'
import type { Policy } from '../policy/policy.ts'
import { grpoAdvantages } from '../rl/advantages.ts'
import { lossPreset } from '../rl/loss-presets.ts'
import { type Credited, creditRollouts, datumsOf, type Graded, type RatioMode } from '../rl/rollout.ts'
import { evalRow } from '../runs/eval-row.fixture.ts'
import { readEvals, readMetrics, readRollouts, withoutTimings } from '../runs/readers.ts'
import { RunFolder } from '../runs/run-folder.ts'
import { Rng } from '../util/rng.ts'
import { mean } from '../util/statistics.ts'
import { type LoopSettings, train } from './loop.ts'
import { learntFrom, type Recipe } from './recipe.ts'
import type { StepIo } from './rollout.ts'
import { entropiesOf } from './scores.ts'

const SLOW_MS = 120_000
const STEPS = 7
const SAMPLES = 4

let folder: string
let base: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-paired-'))
  base = join(folder, 'base')
  const policy = await LocalPolicy.start({ init: { config: TINY, seed: 1 } }, { threads: 1 })
  await policy.save(base, { optimizer: false })
  await policy.close()
}, SLOW_MS)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Rolled = Graded<number, number>[][]

/** Everything that asks the policy for something: scaffolds, replaced groups, entropies, a reference, evaluations. */
const recipeOf = (policy: Policy, ratio: RatioMode, delays: Rng, failAt: number): Recipe<Rolled> => {
  const prompt = (problem: number) => {
    const rng = new Rng(`prompt ${problem}`)
    return Array.from({ length: 3 + rng.int(4) }, () => rng.int(TINY.vocabSize))
  }
  const ask = (io: StepIo, step: number, problems: number[], round = 0) =>
    io.rollOut({
      problems,
      round,
      prompt,
      // The last sample of a group is shown nothing.
      sampledFrom: problems.map(problem =>
        Array.from({ length: SAMPLES }, (_, g) =>
          g === SAMPLES - 1 ? prompt(problem) : [1 + (step % 7), 2 + g, ...prompt(problem)],
        ),
      ),
      ratio,
      samples: SAMPLES,
      sampling: { maxTokens: 10, temperature: 0.9, stopTokens: [0, 1] },
      gradeBatch: 3,
      grade: async items => {
        // At once, so that the update comes while the next step is sampled; or so slowly that it comes after that.
        if (step % 2 === 0) await new Promise(resolve => setTimeout(resolve, 10 + delays.int(30)))
        return items.map(
          ({ rollout: { tokens } }) => tokens.filter(token => token > 8).length / tokens.length,
        )
      },
      reward: grade => ({ reward: grade, parts: {} }),
      last: round === 0,
    })
  return {
    rollOut: async (step, io) => {
      const groups = await ask(io, step, [3 * step, 3 * step + 1, 3 * step + 2])
      if (step % 2 === 1) [groups[1]] = await ask(io, step, [1000 + step], 1)
      return groups
    },
    learn: async (step, groups) => {
      const { advantages_P_G } = grpoAdvantages(groups.map(group => group.map(({ grade }) => grade)))
      const entropies = await entropiesOf(policy, groups, { temperature: 1 })
      const credited = creditRollouts(groups, advantages_P_G).map((group, p) =>
        group.map((item, g) => ({
          ...item,
          advantages: item.advantages.map((a, t) => a + 0.1 * entropies[p][g][t]),
        })),
      )
      const rowOf = ({ problem, reward, rollout }: Credited<number, number>) => {
        if (step === failAt) throw new Error('killed')
        const { tokens, logprobs, oldLogprobs = [], sample } = rollout
        const response = JSON.stringify([[...tokens], [...logprobs], [...oldLogprobs]])
        return { step, problemId: String(problem), sample, prompt: '', response, reward }
      }
      return {
        phases: [
          {
            name: 'policy',
            datums: datumsOf(credited, { ratio }),
            loss: { ...lossPreset('trl:grpo'), kl: { kind: 'k3', coef: 0.05 } },
            ...{ temperature: 0.9, minibatches: 2, epochs: 1 },
          },
        ],
        metrics: { reward: mean(groups.flatMap(group => group.map(({ grade }) => grade))) },
        rollouts: learntFrom(credited, rowOf),
      }
    },
    evaluate: async step => {
      const samples = await policy.sample({ prompts: [[1], [2, 3]], maxTokens: 6, seed: 'evaluation' })
      const sum = samples.flatMap(({ logprobs }) => [...logprobs]).reduce((a, b) => a + b, 0)
      return [evalRow(sum, { step, n: 2 })]
    },
  }
}

const settings: LoopSettings = {
  steps: STEPS,
  seed: 3,
  optimizer: { maxGradNorm: 1 },
  learningRate: { kind: 'constant', peak: 0.02, warmup: 0, floor: 0 },
  pipeline: true,
  monitors: null,
  evalEvery: 3,
  checkpointEvery: 5,
  keepCheckpoints: 10,
  maxMinutes: null,
  configHash: 'hash',
}

interface Variant {
  start(source: ModelSource): Promise<Policy>
  /** Trains until this step's rollouts are recorded, is killed, and goes on from the last checkpoint. */
  killedAt?: number
  /** Is asked to stop after this step, and goes on from the checkpoint that it leaves. */
  stoppedAfter?: number
}

const threads = { threads: 1 }
const ONE: Variant = { start: source => LocalPolicy.start(source, threads) }
const TWO: Variant = { start: source => PairedPolicy.start(source, { sampler: threads, trainer: threads }) }

const withPolicy = async (
  { start }: Variant,
  source: ModelSource,
  run: (policy: Policy) => Promise<unknown>,
) => {
  const policy = await start(source)
  try {
    await policy.freezeReference()
    await run(policy)
  } finally {
    await policy.close()
  }
}

/** Everything that a run leaves, apart from times. */
const traces = async (name: string, variant: Variant, source: ModelSource, ratio: RatioMode) => {
  const run = RunFolder.create(join(folder, name), { config: {} })
  const delays = new Rng(name)
  const { killedAt = 0, stoppedAfter = 0 } = variant
  const shouldStop = () => readMetrics(run.dir).length === stoppedAfter
  const first = withPolicy(variant, source, policy =>
    train(policy, recipeOf(policy, ratio, delays, killedAt), run, settings, 0, { shouldStop }),
  )
  if (killedAt > 0) await expect(first).rejects.toThrow('killed')
  else await first
  if (killedAt + stoppedAfter > 0) {
    const { dir, step } = run.resume('hash')
    await withPolicy(variant, source, async policy => {
      await policy.load(dir)
      await train(policy, recipeOf(policy, ratio, delays, 0), run, settings, step)
    })
  }
  run.close()
  const checkpoints = readdirSync(run.path('checkpoints'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.name.endsWith('.safetensors'))
    .map(({ parentPath, name: file }) => join(parentPath, file))
    .toSorted()
  return {
    metrics: readMetrics(run.dir).map(withoutTimings),
    evals: readEvals(run.dir),
    rollouts: readRollouts(run.dir),
    weights: checkpoints.map(path => [path.slice(run.dir.length), readFileSync(path).toString('base64')]),
    times: readMetrics(run.dir).map(({ time }) => time ?? {}),
  }
}

describe('a pipelined run on two engines', { timeout: SLOW_MS }, () => {
  it.each<[string, ModelSource, RatioMode]>([
    ['all weights', {}, 'plain'],
    ['all weights', {}, 'true-is'],
    ['an adapter', { lora: { rank: 2, alpha: 4, targetModules: ['q_proj', 'v_proj'] } }, 'plain'],
    ['a value head besides', { valueHead: true }, 'sampled'],
  ])('leaves the same numbers as on one: %s, %o, ratio %s', async (name, more, ratio) => {
    const source = { folder: base, seed: 5, ...more }
    const { times, ...one } = await traces(`${name} ${ratio} one`, ONE, source, ratio)
    const { times: pairedTimes, ...two } = await traces(`${name} ${ratio} two`, TWO, source, ratio)
    expect(one.metrics).toHaveLength(STEPS)
    expect(one.weights.length).toBeGreaterThanOrEqual(4)
    expect(one.evals.map(({ step }) => step)).toEqual([0, 3, 6, 7])
    expect(new Set(one.evals.map(({ scores }) => scores.accuracy.value)).size).toBe(4)
    // Off-policy by one update where it was sampled ahead, by none after an evaluation.
    if (ratio !== 'true-is') {
      const gaps = one.metrics.map(({ logprobGapMax }) => Number(logprobGapMax) > 1e-3)
      expect(gaps).toEqual([false, true, true, false, true, true, false])
    }
    expect(two).toEqual(one)
    expect(times.every(time => !('weights' in time))).toBe(true)
    expect(pairedTimes.every(time => Number(time.weights) >= 0)).toBe(true)
  })

  it('goes on after a kill or a stop as if nothing had happened', async () => {
    const source = { folder: base, seed: 5 }
    const { times: _, ...whole } = await traces('whole', ONE, source, 'plain')
    const { times: __, ...killed } = await traces('killed', { ...TWO, killedAt: 7 }, source, 'plain')
    expect(killed).toEqual(whole)
    // Stopped where the next step is sampled from weights that no checkpoint has.
    for (const [name, variant] of [['one', ONE] as const, ['two', TWO] as const]) {
      const stopped = await traces(`stopped on ${name}`, { ...variant, stoppedAfter: 4 }, source, 'plain')
      const { times: ___, weights, ...rest } = stopped
      const planned = weights.filter(([path]) => !path.includes('step-000004'))
      expect({ ...rest, weights: planned }).toEqual(whole)
    }
  })
})
