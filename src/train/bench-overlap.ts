/** @file How much of a judge's latency training hides: the same steps with grading afterwards, beside sampling, and ahead. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelConfig } from '../model/config.ts'
import { LocalPolicy } from '../policy/local/local-policy.ts'
import { grpoAdvantages } from '../rl/advantages.ts'
import { broadcastAdvantage } from '../rl/datum.ts'
import { lossPreset } from '../rl/loss-presets.ts'
import type { MetricsRow } from '../runs/rows.ts'
import { RunFolder, readMetrics } from '../runs/run-folder.ts'
import { Rng } from '../util/rng.ts'
import { median } from '../util/statistics.ts'
import { type LoopSettings, type Recipe, train } from './loop.ts'

/** A model whose rollouts have very different lengths: with fresh weights each token ends it with a chance of about 1 in 96. */
const MODEL: ModelConfig = {
  family: 'llama',
  vocabSize: 96,
  hiddenSize: 192,
  intermediateSize: 512,
  layers: 4,
  heads: 6,
  kvHeads: 6,
  headDim: 32,
  maxPositions: 160,
  rmsNormEps: 1e-5,
  ropeTheta: 10_000,
  ropeScaling: null,
  tieEmbeddings: false,
  attentionBias: false,
  qkNorm: false,
  bosTokenId: 1,
  eosTokenIds: [2],
  initializerRange: 0.02,
}

export interface OverlapOptions {
  /** Milliseconds that the judge takes for a rollout, and rollouts that it takes at a time. */
  latencyMs?: number
  slots?: number
  prompts?: number
  samples?: number
  maxTokens?: number
  /** Steps of each kind that are measured, after one that is not. */
  steps?: number
  threads?: number
  onProgress?: (line: string) => void
}

/** Seconds a step, medians; the stages are those of the synchronous steps. */
export interface OverlapBenchmark {
  rolloutS: number
  rewardS: number
  updateS: number
  /** Grading starts when everything is sampled. */
  syncS: number
  /** Each rollout is graded as soon as it is finished (RuscaRL appendix C.6). */
  overlapS: number
  /** The next step is sampled while this one is graded and learnt from. */
  pipelinedS: number
  /** overlapS over max(rollout, reward) + update: 1 is what the formula promises. */
  overlapToFormula: number
  /** pipelinedS over max(rollout + update, reward): sampling and updates share one engine. */
  pipelinedToFormula: number
}

/** A judge that needs `latencyMs` for a rollout and takes `slots` of them at a time. */
const slowJudge = (latencyMs: number, slots: number) => {
  let free = slots
  const waiting: (() => void)[] = []
  const release = () => {
    const next = waiting.shift()
    if (next) next()
    else free++
  }
  return async (): Promise<void> => {
    if (free > 0) free--
    else await new Promise<void>(resolve => waiting.push(resolve))
    await new Promise(resolve => setTimeout(resolve, latencyMs))
    release()
  }
}

type Settings = Required<Omit<OverlapOptions, 'onProgress'>>

const recipeOf = ({ latencyMs, slots, prompts }: Settings): Recipe<number, number> => {
  const judge = slowJudge(latencyMs, slots)
  return {
    draw: step => Array.from({ length: prompts }, (_, i) => step * prompts + i),
    prompt: problem => {
      const rng = new Rng(`overlap/${problem}`)
      return Array.from({ length: 24 }, () => 3 + rng.int(90))
    },
    grade: items =>
      Promise.all(
        items.map(async ({ problem, sample }) => {
          await judge()
          return new Rng(`${problem}/${sample.index}`).next()
        }),
      ),
    credit: groups => {
      const { advantages_P_G } = grpoAdvantages(groups.map(({ grades }) => grades))
      const advantages = groups.map(({ samples }, p) =>
        samples.map(({ tokens }, g) =>
          broadcastAdvantage(advantages_P_G[p][g], new Float32Array(tokens.length).fill(1)),
        ),
      )
      return { advantages, metrics: {} }
    },
    record: () => [],
    evaluate: async () => [],
  }
}

const loopSettings = (
  { prompts, samples, maxTokens, steps }: Settings,
  kind: 'sync' | 'overlap' | 'pipelined',
): LoopSettings => ({
  steps: steps + 1,
  seed: 'overlap',
  rollout: {
    maxTokens,
    samplesPerPrompt: samples,
    temperature: 1,
    gradeBatch: kind === 'sync' ? prompts * samples : 1,
  },
  update: {
    loss: lossPreset('trl:grpo'),
    // So small that every kind samples rollouts of the same lengths.
    optimizer: { beta2: 0.95 },
    learningRate: { kind: 'constant', peak: 1e-9, warmup: 0, floor: 0 },
    minibatches: 1,
    epochs: 1,
    dropZero: true,
  },
  pipeline: kind === 'pipelined',
  monitors: null,
  evalEvery: 0,
  checkpointEvery: 0,
  keepCheckpoints: 1,
  maxMinutes: null,
  configHash: 'bench',
})

/** Metrics rows of the measured steps, and median seconds between the ends of one step and the next. */
const measure = async (
  policy: LocalPolicy,
  settings: Settings,
  kind: 'sync' | 'overlap' | 'pipelined',
): Promise<{ rows: MetricsRow[]; stepS: number }> => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-overlap-'))
  const run = RunFolder.create(join(folder, 'run'), { config: {} })
  const ends: number[] = []
  try {
    const onStep = () => ends.push(performance.now())
    await train(policy, recipeOf(settings), run, loopSettings(settings, kind), 0, { onStep })
    const gaps = ends.slice(1).map((end, i) => (end - ends[i]) / 1000)
    return { rows: readMetrics(run.dir).slice(1), stepS: median(gaps) }
  } finally {
    run.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Trains the same few steps in each of the three ways, on a real policy with a judge of set latency. */
export const benchOverlap = async (options: OverlapOptions = {}): Promise<OverlapBenchmark> => {
  const { onProgress = () => {}, ...given } = options
  const defaults = { latencyMs: 100, slots: 16, prompts: 32, samples: 8, maxTokens: 96, steps: 6, threads: 2 }
  const settings: Settings = { ...defaults, ...given }
  const { threads } = settings
  const policy = await LocalPolicy.start({ init: { config: MODEL, seed: 1 } }, { threads })
  try {
    const results = new Map<string, Awaited<ReturnType<typeof measure>>>()
    for (const kind of ['sync', 'overlap', 'pipelined'] as const) {
      onProgress(`${settings.steps} steps, ${kind}`)
      results.set(kind, await measure(policy, settings, kind))
    }
    const { rows, stepS: syncS } = results.get('sync')!
    const stage = (name: string) => median(rows.map(({ time }) => time?.[name] ?? 0))
    const [rolloutS, rewardS, updateS] = [stage('sample'), stage('grade'), stage('update')]
    const [overlapS, pipelinedS] = [results.get('overlap')!.stepS, results.get('pipelined')!.stepS]
    return {
      rolloutS,
      rewardS,
      updateS,
      syncS,
      overlapS,
      pipelinedS,
      overlapToFormula: overlapS / (Math.max(rolloutS, rewardS) + updateS),
      pipelinedToFormula: pipelinedS / Math.max(rolloutS + updateS, rewardS),
    }
  } finally {
    await policy.close()
  }
}
