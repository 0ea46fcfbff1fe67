/** @file What the engine's benchmarks compute: models, batches, prompts, the arithmetic of each, and what times them. */

import type { ModelConfig } from '../model/config.ts'
import { type LoraConfig, loraModules } from '../model/lora-files.ts'
import type { Parameters } from '../policy/local/parameters.ts'
import type { Policy } from '../policy/policy.ts'
import { updateOnce } from '../policy/update.ts'
import type { Datum } from '../rl/datum.ts'
import { LOSS_PRESETS } from '../rl/loss-presets.ts'
import { Rng } from '../util/rng.ts'

/** The standard workload: vocab 512, width 256, 4 layers, 4 heads of 64, SwiGLU 688, context 256. */
const WORKLOAD: ModelConfig = {
  family: 'llama',
  vocabSize: 512,
  hiddenSize: 256,
  intermediateSize: 688,
  layers: 4,
  heads: 4,
  kvHeads: 4,
  headDim: 64,
  maxPositions: 256,
  rmsNormEps: 1e-5,
  ropeTheta: 10_000,
  ropeScaling: null,
  tieEmbeddings: true,
  attentionBias: false,
  qkNorm: false,
  bosTokenId: null,
  eosTokenIds: [],
  initializerRange: 0.02,
}
/** The standard workload and larger ones, for what a GPU is for: about 32 and 126 million weights. */
export const BENCH_SHAPES = {
  standard: WORKLOAD,
  '30m': { ...WORKLOAD, hiddenSize: 512, intermediateSize: 1376, layers: 10, heads: 8, kvHeads: 8 },
  '130m': { ...WORKLOAD, hiddenSize: 1024, intermediateSize: 2752, layers: 10, heads: 16, kvHeads: 16 },
} satisfies Record<string, ModelConfig>
export type BenchShape = keyof typeof BENCH_SHAPES

const SEQUENCES = 16
const PROMPT_TOKENS = 16
const NEW_TOKENS = 128
/** Rows that are decoded together. */
export const DECODE_ROWS = [1, 8, 32, 128] as const
/** Prompts x samples of each. */
export const SHARED = [
  [4, 8],
  [16, 8],
] as const
/** Counted for one decoded token: two operations a weight, of which the standard workload has 3.3 million. */
export const decodeFlop = (shape: string, parameters: number): number =>
  shape === 'standard' ? 6.6e6 : 2 * parameters

/** The adapter of that rank on every product of a layer; nothing for 0. */
export const adapterOf = (rank: number): { lora?: LoraConfig } =>
  rank > 0 ? { lora: { rank, alpha: 2 * rank, targetModules: [...loraModules] } } : {}

export const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

/** Tokens of a sequence that is learnt from, of a prompt, and new ones of a sample: the standard ones where they fit. */
export const lengthsOf = ({ maxPositions }: ModelConfig) => {
  const sequence = Math.min(WORKLOAD.maxPositions, maxPositions)
  const promptTokens = Math.min(PROMPT_TOKENS, Math.floor(sequence / 4))
  return { sequence, promptTokens, newTokens: Math.min(NEW_TOKENS, sequence - promptTokens) }
}

/** What is measured: an engine, or several that share the work. */
export interface Benched extends Pick<Policy, 'sample' | 'accumulate' | 'step'> {
  readonly config: ModelConfig
  readonly parameterCount: number
  /** Those of the adapter, where there is one. */
  readonly trainedCount: number
}

/** Forward once, and backward twice; once where weights stay as they are and only an adapter has a gradient. */
const passesOf = ({ parameterCount, trainedCount }: Benched): number =>
  trainedCount < parameterCount ? 2 : 3

/** Arithmetic of one training step; attention counted without the saving of causality. */
const trainFlop = (benched: Benched): number => {
  const { config, parameterCount: count } = benched
  const { sequence } = lengthsOf(config)
  const tokens = SEQUENCES * sequence
  const attention = config.layers * 4 * sequence * config.heads * config.headDim * tokens
  return passesOf(benched) * (2 * count * tokens + attention)
}

export const randomTokens = (rng: Rng, count: number, vocabSize: number): number[] =>
  Array.from({ length: count }, () => rng.int(vocabSize))

/** What is learnt by: the least arithmetic beside the model's own. */
export const LOSS = { loss: LOSS_PRESETS['gradus:supervised'] }

/** Datums of so many tokens each, behind a prompt of one. */
export const randomDatums = (
  seed: string,
  count: number,
  length: number,
  { vocabSize }: ModelConfig,
): Datum[] => {
  const rng = new Rng(seed)
  return Array.from({ length: count }, () => ({
    promptTokens: randomTokens(rng, 1, vocabSize),
    tokens: randomTokens(rng, length, vocabSize),
    mask: new Float32Array(length).fill(1),
    oldLogprobs: new Float32Array(length),
    advantages: new Float32Array(length),
  }))
}

/** What a training step of the standard workload learns from. */
export const trainDatums = (config: ModelConfig): Datum[] =>
  randomDatums('train', SEQUENCES, lengthsOf(config).sequence, config)

/** Seconds of an update by the datums, optimiser included. */
export const updateRunner = (engine: Pick<Policy, 'accumulate' | 'step'>, datums: readonly Datum[]) => () =>
  seconds(() => updateOnce(engine, datums, { ...LOSS, optimizer: { learningRate: 1e-4 } }))

/** Prompts and samples of each that are learnt from as reinforcement has them. */
export const GROUPS = [16, 8] as const

/** Samples as they end: from a quarter of the longest to all of it. */
const groupDatums = (config: ModelConfig): Datum[] => {
  const { promptTokens, newTokens } = lengthsOf(config)
  const rng = new Rng('groups')
  const [prompts, samples] = GROUPS
  return Array.from({ length: prompts }, () => {
    const prompt = randomTokens(rng, promptTokens, config.vocabSize)
    return Array.from({ length: samples }, () => {
      const length = Math.max(1, Math.ceil(newTokens * (0.25 + 0.75 * rng.next())))
      const [datum] = randomDatums(`group ${rng.uint32()}`, 1, length, config)
      return { ...datum, promptTokens: prompt }
    })
  }).flat()
}

/** A group's prompt goes through once. */
const groupFlop = (benched: Benched): number => {
  const { config, parameterCount: count } = benched
  const [prompts] = GROUPS
  const { promptTokens } = lengthsOf(config)
  const attention = 4 * config.layers * config.heads * config.headDim
  const drawn = groupDatums(config).map(({ tokens }) => tokens.length)
  const responses = drawn.reduce(
    (sum, length) => sum + length * (2 * count + attention * (promptTokens + length / 2)),
    0,
  )
  const read = prompts * promptTokens * (2 * count + (attention * promptTokens) / 2)
  return passesOf(benched) * (read + responses)
}

const decodeRunner = (engine: Benched, prompts: number, samples: number) => {
  const rng = new Rng('decode')
  const { config } = engine
  const { promptTokens, newTokens } = lengthsOf(config)
  const request = {
    prompts: Array.from({ length: prompts }, () => randomTokens(rng, promptTokens, config.vocabSize)),
    samplesPerPrompt: samples,
    maxTokens: newTokens,
    stopTokens: [],
  }
  return () => seconds(() => engine.sample(request))
}

/** Stop tokens so many that a model that knows nothing hits one after a quarter of the longest, on average. */
export const raggedRunner = (engine: Benched) => {
  const rng = new Rng('ragged')
  const { config } = engine
  const { promptTokens, newTokens } = lengthsOf(config)
  const [prompts, samples] = GROUPS
  const request = {
    prompts: Array.from({ length: prompts }, () => randomTokens(rng, promptTokens, config.vocabSize)),
    samplesPerPrompt: samples,
    maxTokens: newTokens,
    stopTokens: Array.from({ length: Math.ceil((4 * config.vocabSize) / newTokens) }, (_, id) => id),
  }
  return async (round: number) => {
    const lengths: number[] = []
    const time = await seconds(async () => {
      const drawn = await engine.sample({ ...request, seed: round })
      lengths.push(...drawn.map(({ tokens }) => tokens.length))
    })
    return {
      seconds: time,
      tokens: lengths.reduce((sum, length) => sum + length, 0),
      longest: Math.max(...lengths),
    }
  }
}

/**
 * Milliseconds that a step of the optimiser takes for a million trained parameters, behind what a training step learns from: its norm, AdamW,
 * and of several engines what they pass to each other. A gradient of fewer tokens has squares too small for normal numbers, with
 * which processors compute several times slower.
 */
export const optimizerRunner = (engine: Benched) => {
  const datums = trainDatums(engine.config)
  return async (): Promise<number> => {
    await engine.accumulate(datums, LOSS)
    const time = await seconds(async () => engine.step({ learningRate: 1e-6 }))
    return (time * 1000) / (engine.trainedCount / 1e6)
  }
}

/** Milliseconds of AdamW alone for a million parameters, on the calling thread: what the norm and messages add is left out. */
export const adamwRunner = ({ trained }: Pick<Parameters, 'trained'>) => {
  const rng = new Rng('adamw')
  for (const { grad } of trained) grad.view.set(Float32Array.from(grad.view, () => 0.01 * rng.normal()))
  const count = trained.reduce((sum, { param }) => sum + param.length, 0)
  const { beta1, beta2, eps } = { beta1: 0.9, beta2: 0.999, eps: 1e-8 }
  let step = 0
  return (): number => {
    step++
    const start = performance.now()
    for (const tensor of trained)
      tensor.param.buffer.adamw(tensor, { step, lr: 1e-6, beta1, beta2, eps, weightDecay: 0.1 })
    return (performance.now() - start) / (count / 1e6)
  }
}

/** A piece of work: its arithmetic, and what times it. */
export interface Work {
  flop: number
  run: () => Promise<number>
}

/** A single row once more, behind other decoding: the weights are those of the last graph, as in a chat. */
export const STEADY_ROW = 'a row again'

/** Everything that is timed, by name and in this order: `train`, `groups`, rows, `STEADY_ROW`, prompts x samples. */
export const worksOf = (engine: Benched, flopPerToken: number): Map<string, Work> => {
  const { config } = engine
  const { newTokens } = lengthsOf(config)
  const decoding = (prompts: number, samples: number): Work => ({
    flop: prompts * samples * newTokens * flopPerToken,
    run: decodeRunner(engine, prompts, samples),
  })
  return new Map([
    ['train', { flop: trainFlop(engine), run: updateRunner(engine, trainDatums(config)) }],
    ['groups', { flop: groupFlop(engine), run: updateRunner(engine, groupDatums(config)) }],
    ...DECODE_ROWS.map((rows): [string, Work] => [`${rows}`, decoding(rows, 1)]),
    [STEADY_ROW, decoding(1, 1)],
    ...SHARED.map(([prompts, samples]): [string, Work] => [
      `${prompts}x${samples}`,
      decoding(prompts, samples),
    ]),
  ])
}
