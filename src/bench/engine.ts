/** @file `gradus bench engine`: training and decoding measured against the matrix product of the same runtime and threads. */

import { availableParallelism } from 'node:os'
import { loadConfig } from '../model/checkpoint.ts'
import type { ModelConfig } from '../model/config.ts'
import { stepGraph } from '../model/decoding.ts'
import { microBatches } from '../policy/local/batches.ts'
import { createEngine, type Engine, MICRO_BATCH_TOKENS } from '../policy/local/engine.ts'
import { trainingOutputs } from '../policy/local/trainer.ts'
import { updateOnce } from '../policy/update.ts'
import type { Datum } from '../rl/datum.ts'
import { LOSS_PRESETS } from '../rl/loss-presets.ts'
import { Executable, type ExecutableOptions, input, matmul, type Provider, slice } from '../tensor/index.ts'
import { wholePercent } from '../util/format.ts'
import { resolveShipped } from '../util/package.ts'
import { Rng } from '../util/rng.ts'
import { mean, median } from '../util/statistics.ts'
import { type FigureLine, figureTable, type OnProgress } from './figure-table.ts'
import { productRunner, productsOf } from './products.ts'

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
const DECODE_ROWS = [1, 8, 32, 128] as const
/** Prompts x samples of each. */
const SHARED = [
  [4, 8],
  [16, 8],
] as const
const MATMUL_SIZE = 1024
/** Products in a row before anything leaves the runtime, so that its rate is that of arithmetic alone. */
const MATMUL_CHAIN = 6
/** Counted for one decoded token: two operations a weight, of which the standard workload has 3.3 million. */
const decodeFlop = (shape: string, parameters: number): number =>
  shape === 'standard' ? 6.6e6 : 2 * parameters

export interface BenchOptions {
  /** `cpu` by default. */
  provider?: Provider
  /** `standard` by default. */
  shape?: BenchShape
  /** Folder of a model whose shape is taken in place of a standard one; its weights are not read. */
  model?: string
  /** All cores by default. */
  threads?: number
  /** Times everything is measured; medians are reported. */
  rounds?: number
  /** Layers are computed a second time for their gradient (`policy.recompute`). */
  recompute?: boolean
  onProgress?: OnProgress
}

/** Medians over the rounds. Ratios compare with the matrix products run right before and after, on the same noisy machine. */
export interface EngineBenchmark {
  provider: Provider
  /** A standard shape, or the folder of a model. */
  shape: string
  /** What was decoded, and by what, in counts: of a plan (`gradus plan --gpus here`). */
  workload: {
    layers: number
    hiddenSize: number
    queryWidth: number
    promptTokens: number
    newTokens: number
    sequence: number
  }
  parameters: number
  threads: number
  /** 1024^3 float32 products. */
  matmulGflops: number
  /** One update of 16 sequences of 256 tokens, or of the model's context where that is shorter, from datums to changed weights. */
  trainStepSeconds: number
  trainGflops: number
  trainToMatmul: number
  /** The matrix products of that step alone, in the same process: what it would take if nothing else were to do. */
  idealTrainSeconds: number
  /** The step over its ideal, measured right before and after it: 1 is the least. */
  trainToIdeal: number
  /** One update of 16 groups of 8 samples of different lengths, each group behind its own prompt, padding not counted as work. */
  groupTrainSeconds: number
  groupTrainGflops: number
  groupTrainToMatmul: number
  /** By rows: prompt of 16, 128 new tokens at temperature 1, prompt pass included. */
  decodeTokensPerSecond: Record<string, number>
  decodeToMatmul: Record<string, number>
  /** By rows: if the matrix products of a token in the middle were all there is to do, the prompt's not counted. */
  idealDecodeTokensPerSecond: Record<string, number>
  /** The rate over its ideal: 1 is the most. */
  decodeToIdeal: Record<string, number>
  /** By prompts x samples. */
  sharedPromptTokensPerSecond: Record<string, number>
  sharedPromptToMatmul: Record<string, number>
  /** 16 prompts x 8 samples of which each ends where it happens to, after a quarter of the longest in the middle: means over rounds. */
  raggedDecode: { prompts: number; samples: number; seconds: number; tokens: number; longest: number }
  /** Gradient norm and AdamW. */
  optimizerMsPerMillionParams: number
  peakRssMb: number
}

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

/** Tokens of a sequence that is learnt from, of a prompt, and new ones of a sample: the standard ones where they fit. */
const lengthsOf = ({ maxPositions }: ModelConfig) => {
  const sequence = Math.min(WORKLOAD.maxPositions, maxPositions)
  const promptTokens = Math.min(PROMPT_TOKENS, Math.floor(sequence / 4))
  return { sequence, promptTokens, newTokens: Math.min(NEW_TOKENS, sequence - promptTokens) }
}

/** Arithmetic of one training step: forward once, backward twice; attention counted without the saving of causality. */
const trainFlop = ({ parameters: { config, count } }: Engine): number => {
  const { sequence } = lengthsOf(config)
  const tokens = SEQUENCES * sequence
  const attention = config.layers * 4 * sequence * config.heads * config.headDim * tokens
  return 3 * (2 * count * tokens + attention)
}

const randomTokens = (rng: Rng, count: number, vocabSize: number): number[] =>
  Array.from({ length: count }, () => rng.int(vocabSize))

/** Seconds of a run of matrix products, after compiling them. */
const matmulRunner = async (running: ExecutableOptions) => {
  const shape = [MATMUL_SIZE, MATMUL_SIZE]
  const rng = new Rng('matmul')
  const factor = input('factor', shape)
  const chain = Array.from({ length: MATMUL_CHAIN }).reduce<typeof factor>(x => matmul(x, factor), factor)
  const graph = await Executable.compile({ corner: slice(chain, 0, 0, 1) }, running)
  // Products of such matrices stay of the same size.
  const data = Float32Array.from({ length: MATMUL_SIZE ** 2 }, () => rng.normal() / Math.sqrt(MATMUL_SIZE))
  return async () => {
    const time = await seconds(() => graph.run({ factor: { data, dims: shape } }))
    return (MATMUL_CHAIN * 2 * MATMUL_SIZE ** 3) / time / 1e9
  }
}

const LOSS = { loss: LOSS_PRESETS['gradus:supervised'] }

const randomDatums = (seed: string, count: number, length: number, { vocabSize }: ModelConfig): Datum[] => {
  const rng = new Rng(seed)
  return Array.from({ length: count }, () => ({
    promptTokens: randomTokens(rng, 1, vocabSize),
    tokens: randomTokens(rng, length, vocabSize),
    mask: new Float32Array(length).fill(1),
    oldLogprobs: new Float32Array(length),
    advantages: new Float32Array(length),
  }))
}

const trainRunner = (engine: Engine) => {
  const { config } = engine.parameters
  const datums = randomDatums('train', SEQUENCES, lengthsOf(config).sequence, config)
  const options = { ...LOSS, optimizer: { learningRate: 1e-4 } }
  return () => seconds(() => updateOnce(engine, datums, options))
}

/** Prompts and samples of each that are learnt from as reinforcement has them. */
const GROUPS = [16, 8] as const

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
const groupFlop = ({ parameters: { config, count } }: Engine): number => {
  const [prompts] = GROUPS
  const { promptTokens } = lengthsOf(config)
  const attention = 4 * config.layers * config.heads * config.headDim
  const drawn = groupDatums(config).map(({ tokens }) => tokens.length)
  const responses = drawn.reduce(
    (sum, length) => sum + length * (2 * count + attention * (promptTokens + length / 2)),
    0,
  )
  const read = prompts * promptTokens * (2 * count + (attention * promptTokens) / 2)
  return 3 * (read + responses)
}

const groupTrainRunner = (engine: Engine) => {
  const datums = groupDatums(engine.parameters.config)
  const options = { ...LOSS, optimizer: { learningRate: 1e-4 } }
  return () => seconds(() => updateOnce(engine, datums, options))
}

const decodeRunner = (engine: Engine, prompts: number, samples: number) => {
  const rng = new Rng('decode')
  const { config } = engine.parameters
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
const raggedRunner = (engine: Engine) => {
  const rng = new Rng('ragged')
  const { config } = engine.parameters
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

/** Seconds of the products of one training step alone. */
const idealTrainRunner = async (engine: Engine, running: ExecutableOptions) => {
  const { parameters } = engine
  const { config } = parameters
  const datums = randomDatums('train', SEQUENCES, lengthsOf(config).sequence, config)
  const batches = microBatches(datums, MICRO_BATCH_TOKENS, config)
  const runs = await Promise.all(
    batches.map(({ sizes }) => {
      const outputs = Object.values(trainingOutputs(parameters, LOSS.loss, sizes.S > 0))
      // Graphs name half of a sample's length.
      return productRunner(productsOf(outputs, { ...sizes, H: sizes.T / 2 }), running)
    }),
  )
  return async () => {
    let total = 0
    for (const run of runs) total += await run()
    return total
  }
}

/** Seconds of the products of one token of that many rows alone, with half of the new tokens in the cache. */
const idealTokenRunner = ({ parameters }: Engine, rows: number, running: ExecutableOptions) => {
  const { promptTokens, newTokens } = lengthsOf(parameters.config)
  const sizes = { P: rows, G: 1, S: promptTokens, C: Math.ceil(newTokens / 2) }
  return productRunner(
    productsOf(Object.values(stepGraph(parameters.config, parameters.asConstants())), sizes),
    running,
  )
}

const optimizerRunner = (engine: Engine) => async (): Promise<number> => {
  await engine.accumulate(randomDatums('optimiser', 1, 1, engine.parameters.config), LOSS)
  const time = await seconds(async () => engine.parameters.step({ learningRate: 1e-6 }))
  return (time * 1000) / (engine.parameters.count / 1e6)
}

/** A piece of work: its arithmetic, and what times it. */
interface Work {
  flop: number
  run: () => Promise<number>
}

/** In every round its rate in GFLOP/s, the rate over that of the matrix products around it, and the seconds of its ideal. */
interface Series {
  rates: number[]
  ratios: number[]
  idealSeconds: number[]
  /** Seconds over those of the ideal around it. */
  toIdeal: number[]
}

const worksOf = (engine: Engine, flopPerToken: number): Map<string, Work> => {
  const { newTokens } = lengthsOf(engine.parameters.config)
  const decoding = (prompts: number, samples: number): Work => ({
    flop: prompts * samples * newTokens * flopPerToken,
    run: decodeRunner(engine, prompts, samples),
  })
  return new Map([
    ['train', { flop: trainFlop(engine), run: trainRunner(engine) }],
    ['groups', { flop: groupFlop(engine), run: groupTrainRunner(engine) }],
    ...DECODE_ROWS.map((rows): [string, Work] => [`${rows}`, decoding(rows, 1)]),
    ...SHARED.map(([prompts, samples]): [string, Work] => [
      `${prompts}x${samples}`,
      decoding(prompts, samples),
    ]),
  ])
}

/** Tokens whose products are timed, of which the median counts. */
const IDEAL_TOKENS = 9

const several = async (count: number, work: () => Promise<number>): Promise<number[]> => {
  const times: number[] = []
  while (times.length < count) times.push(await work())
  return times
}

/** What times the products of a work alone, warmed up, for the works that have such an ideal. */
const idealsOf = async (
  engine: Engine,
  running: ExecutableOptions,
): Promise<Map<string, () => Promise<number>>> => {
  const { newTokens } = lengthsOf(engine.parameters.config)
  const ideals = new Map([['train', await idealTrainRunner(engine, running)]])
  for (const rows of DECODE_ROWS) {
    const token = await idealTokenRunner(engine, rows, running)
    ideals.set(`${rows}`, async () => newTokens * median(await several(IDEAL_TOKENS, token)))
  }
  for (const run of ideals.values()) await run()
  return ideals
}

/** Measures a work between two measurements of each yardstick. */
const measureWork = async (
  { flop, run }: Work,
  matmulRate: () => Promise<number>,
  ideal: (() => Promise<number>) | undefined,
  own: Series,
): Promise<number> => {
  const matmulBefore = await matmulRate()
  const idealBefore = await ideal?.()
  const time = await run()
  const idealAfter = await ideal?.()
  const matmul = (matmulBefore + (await matmulRate())) / 2
  const rate = flop / time / 1e9
  own.rates.push(rate)
  own.ratios.push(rate / matmul)
  if (idealBefore !== undefined && idealAfter !== undefined) {
    const seconds = (idealBefore + idealAfter) / 2
    own.idealSeconds.push(seconds)
    own.toIdeal.push(time / seconds)
  }
  return matmul
}

/**
 * Measures the engine on the standard workload. Everything runs in the calling thread, as in the policy's worker, so that no message
 * passing is timed; yardsticks are measured around every piece, because machines change speed: the matrix product of 1024^3, and the
 * very products of the piece, run alone.
 */
export const benchEngine = async (options: BenchOptions = {}): Promise<EngineBenchmark> => {
  const { provider = 'cpu', shape = 'standard', rounds = 5, onProgress = () => {} } = options
  const threads = options.threads ?? availableParallelism()
  const running = { provider, threads }
  const { model } = options
  const config = model === undefined ? BENCH_SHAPES[shape] : loadConfig(resolveShipped(model))
  const name = model ?? shape
  const { newTokens, promptTokens, sequence } = lengthsOf(config)
  const engine = createEngine({ init: { config, seed: 1 } }, { ...running, recompute: options.recompute })
  const optimizer = optimizerRunner(engine)
  const flopPerToken = decodeFlop(name, engine.parameters.count)
  const works = worksOf(engine, flopPerToken)
  // Graphs are compiled and memory is taken; the yardsticks' own memory comes after the peak was read.
  for (const { run } of works.values()) await run()
  const ragged = raggedRunner(engine)
  await ragged(0)
  await optimizer()
  const peakRssMb = Math.round(process.resourceUsage().maxRSS / 1024)
  const matmulRate = await matmulRunner(running)
  const ideals = await idealsOf(engine, running)
  onProgress('warmed up')

  const series = new Map([...works.keys()].map(work => [work, emptySeries()]))
  const matmulRates: number[] = []
  const optimizerMs: number[] = []
  const raggedRuns: Awaited<ReturnType<typeof ragged>>[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const [name, work] of works)
      matmulRates.push(await measureWork(work, matmulRate, ideals.get(name), series.get(name)!))
    raggedRuns.push(await ragged(round))
    optimizerMs.push(await optimizer())
    onProgress(`round ${round} of ${rounds}`)
  }
  const of = (name: string, figures: keyof Series) => median(series.get(name)![figures])
  const per = (names: readonly string[], value: (name: string) => number) =>
    Object.fromEntries(names.map(name => [name, value(name)]))
  const ratioOf = (name: string) => fourDigits(of(name, 'ratios'))
  const tokenRate = (name: string) => Math.round((of(name, 'rates') * 1e9) / flopPerToken)
  const rows = DECODE_ROWS.map(String)
  const shared = SHARED.map(([prompts, samples]) => `${prompts}x${samples}`)
  return {
    ...{ provider, shape: name, parameters: engine.parameters.count, threads },
    workload: {
      ...{ layers: config.layers, hiddenSize: config.hiddenSize },
      queryWidth: config.heads * config.headDim,
      ...{ promptTokens, newTokens, sequence },
    },
    matmulGflops: fourDigits(median(matmulRates)),
    trainStepSeconds: fourDigits(works.get('train')!.flop / 1e9 / of('train', 'rates')),
    trainGflops: fourDigits(of('train', 'rates')),
    trainToMatmul: ratioOf('train'),
    idealTrainSeconds: fourDigits(of('train', 'idealSeconds')),
    trainToIdeal: fourDigits(of('train', 'toIdeal')),
    groupTrainSeconds: fourDigits(works.get('groups')!.flop / 1e9 / of('groups', 'rates')),
    groupTrainGflops: fourDigits(of('groups', 'rates')),
    groupTrainToMatmul: ratioOf('groups'),
    decodeTokensPerSecond: per(rows, tokenRate),
    decodeToMatmul: per(rows, ratioOf),
    idealDecodeTokensPerSecond: per(rows, row =>
      Math.round((Number(row) * newTokens) / of(row, 'idealSeconds')),
    ),
    decodeToIdeal: per(rows, row => fourDigits(1 / of(row, 'toIdeal'))),
    sharedPromptTokensPerSecond: per(shared, tokenRate),
    sharedPromptToMatmul: per(shared, ratioOf),
    raggedDecode: {
      prompts: GROUPS[0],
      samples: GROUPS[0] * GROUPS[1],
      seconds: fourDigits(mean(raggedRuns.map(({ seconds: each }) => each))),
      tokens: fourDigits(mean(raggedRuns.map(({ tokens }) => tokens))),
      longest: fourDigits(mean(raggedRuns.map(({ longest }) => longest))),
    },
    optimizerMsPerMillionParams: fourDigits(median(optimizerMs)),
    peakRssMb,
  }
}

const emptySeries = (): Series => ({ rates: [], ratios: [], idealSeconds: [], toIdeal: [] })

const fourDigits = (x: number): number => Number(x.toPrecision(4))

/** The benchmark as a table for people. */
export const formatEngineBenchmark = (result: EngineBenchmark): string => {
  const share = (ratio: number) => `${wholePercent(ratio)} of it`
  const decoding = Object.entries(result.decodeTokensPerSecond).map(
    ([rows, rate]): FigureLine => [
      `decode, ${rows} ${rows === '1' ? 'row' : 'rows'}`,
      `${rate} tokens/s`,
      `${share(result.decodeToMatmul[rows])}; ${wholePercent(result.decodeToIdeal[rows])} of its products alone, ${result.idealDecodeTokensPerSecond[rows]}`,
    ],
  )
  const shared = Object.entries(result.sharedPromptTokensPerSecond).map(
    ([name, rate]): FigureLine => [
      `decode, ${name.replace('x', ' prompts x ')} samples`,
      `${rate} tokens/s`,
      share(result.sharedPromptToMatmul[name]),
    ],
  )
  const rows: FigureLine[] = [
    [
      'matrix product 1024^3',
      `${result.matmulGflops} GFLOP/s`,
      result.provider === 'cpu' ? `${result.threads} threads` : 'WebGPU',
    ],
    [
      `training step, 16 x ${result.workload.sequence} tokens`,
      `${result.trainStepSeconds} s, ${result.trainGflops} GFLOP/s`,
      `${share(result.trainToMatmul)}; ${result.trainToIdeal.toFixed(2)} x its products alone, ${result.idealTrainSeconds} s`,
    ],
    [
      'the same, 16 groups of 8 samples',
      `${result.groupTrainSeconds} s, ${result.groupTrainGflops} GFLOP/s`,
      share(result.groupTrainToMatmul),
    ],
    ...decoding,
    ...shared,
    [
      'the last, each sample ending by chance',
      `${Math.round(result.raggedDecode.tokens / result.raggedDecode.seconds)} tokens/s`,
      '',
    ],
    ['optimiser', `${result.optimizerMsPerMillionParams} ms per million parameters`, ''],
    ['peak memory', `${result.peakRssMb} MB`, ''],
  ]
  return figureTable(rows)
}
