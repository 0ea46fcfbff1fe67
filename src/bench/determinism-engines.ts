/** @file Whole engines as cases of `gradus bench determinism`: a short training, and sampling while another engine learns. */

import type { ModelConfig } from '../model/config.ts'
import { createEngine } from '../policy/local/engine.ts'
import { PairedPolicy } from '../policy/local/paired-policy.ts'
import { rolloutDatums } from '../policy/local/rollout-datums.ts'
import { updateOnce } from '../policy/update.ts'
import { LOSS_PRESETS } from '../rl/loss-presets.ts'
import type { RepeatedCase } from './repeated-case.ts'

const STEPS = 2

/** Tiny but for its width: the runtime adds rows on several threads from about 250,000 elements on, a thousand rows here. */
const MODEL: ModelConfig = {
  family: 'llama',
  vocabSize: 8,
  hiddenSize: 256,
  intermediateSize: 64,
  layers: 1,
  heads: 4,
  kvHeads: 2,
  headDim: 16,
  maxPositions: 64,
  rmsNormEps: 1e-5,
  ropeTheta: 1000,
  ropeScaling: null,
  tieEmbeddings: true,
  attentionBias: false,
  qkNorm: false,
  bosTokenId: 0,
  eosTokenIds: [],
  initializerRange: 0.1,
}
const SOURCE = { init: { config: MODEL, seed: 1 } }
const PROMPTS = Array.from({ length: 8 }, (_, i) => [i, 7 - i, 3, i])
const LEARNING = { loss: LOSS_PRESETS['trl:grpo'], optimizer: { learningRate: 1e-3 } }

const requestOf = (step: number) => ({
  prompts: PROMPTS,
  samplesPerPrompt: 8,
  maxTokens: 24,
  seed: `${step}`,
})

const bitsOf = (value: unknown): Uint8Array =>
  Buffer.from(
    JSON.stringify(value, (_, x) => (ArrayBuffer.isView(x) ? Array.from(x as unknown as Float32Array) : x)),
  )

/** A few steps of rollouts and updates in one engine; everything that came of them, weights and moments too. */
const train = async (threads: number): Promise<Uint8Array> => {
  const engine = createEngine(SOURCE, { threads, spinning: false })
  const rows: unknown[] = []
  for (let step = 0; step < STEPS; step++) {
    const samples = await engine.sample(requestOf(step))
    rows.push({
      samples,
      stats: await updateOnce(engine, rolloutDatums(PROMPTS, samples, `advantages/${step}`), LEARNING),
    })
  }
  const weights = engine.parameters.trained.map(({ param, m, v }) => [param.view, m.view, v.view])
  return bitsOf({ rows, weights })
}

/** The same with two engines: the next step is sampled while this one is learnt from, or before it. */
const trainPaired = async (threads: number, together: boolean): Promise<Uint8Array> => {
  const options = { threads, spinning: false }
  const policy = await PairedPolicy.start(SOURCE, { sampler: options, trainer: options })
  try {
    const rows: unknown[] = []
    let samples = await policy.sample(requestOf(0))
    for (let step = 0; step < STEPS; step++) {
      const next = policy.sample(requestOf(step + 1))
      if (!together) await next
      const stats = await updateOnce(policy, rolloutDatums(PROMPTS, samples, `advantages/${step}`), LEARNING)
      rows.push({ samples, stats, next: await next })
      samples = await next
      await policy.syncWeights()
    }
    const items = PROMPTS.map(prompt => ({ promptTokens: prompt, tokens: [1, 2, 3, 4, 5, 6, 7, 0] }))
    const scores = [await policy.score(items), await policy.score(items, { weights: 'sampling' })]
    return bitsOf({ rows, scores })
  } finally {
    await policy.close()
  }
}

/** Trainings as a whole, each repeated from its beginning. */
export const ENGINE_CASES: Readonly<Record<string, RepeatedCase>> = {
  'engine/training': { run: train },
  'engine/sampling while another one learns': {
    run: threads => trainPaired(threads, true),
    fromReference: async () => {
      const [together, apart] = [await trainPaired(2, true), await trainPaired(2, false)]
      return Buffer.compare(together, apart) === 0 ? 0 : Infinity
    },
  },
}
