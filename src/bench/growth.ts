/** @file `gradus bench growth`: how time grows with batch, context and model, against the arithmetic that each of them takes. */

import { availableParallelism } from 'node:os'
import { loadConfig } from '../model/checkpoint.ts'
import type { ModelConfig } from '../model/config.ts'
import { fetchModel } from '../model/fetch-model.ts'
import { createEngine, type Engine } from '../policy/local/engine.ts'
import { formatInteger } from '../util/format.ts'
import { Rng } from '../util/rng.ts'
import { median } from '../util/statistics.ts'
import { tokenProducts, trainProducts } from './engine-ideals.ts'
import { BENCH_SHAPES, randomDatums, randomTokens, updateRunner } from './engine-work.ts'
import { flopOf } from './products.ts'
import { type OnProgress, type ResultLine, resultTable } from './result-table.ts'

/** One size of model, batch and context. */
export interface GrowthCase {
  /** Which of the three grows. */
  grows: 'batch' | 'context' | 'model'
  work: 'train' | 'decode'
  /** Millions of weights, about; or the model that was named. */
  model: string
  /** Sequences of a training step, or rows that are decoded together. */
  batch: number
  /** Tokens of a sequence. */
  context: number
}

export interface GrowthPoint extends GrowthCase {
  parameters: number
  /** Of the matrix products, billions. */
  gflop: number
  seconds: number
  tokensPerSecond: number
  gflopPerSecond: number
  /** Seconds an operation, over those of the standard size in the same round: 1 is proportional, more is slower. */
  toProportional: number
}

export interface GrowthBenchmark {
  threads: number
  /** What all others are compared with. */
  standard: Standard
  rounds: number
  points: GrowthPoint[]
}

export interface GrowthOptions {
  threads?: number
  rounds?: number
  /** The largest model in millions of weights; 100 by default. */
  largest?: number
  /** A model whose shape is measured, with random weights, in place of all those: a folder, a name, a GGUF file. */
  model?: string
  /** In place of all sizes. */
  cases?: readonly GrowthCase[]
  onProgress?: OnProgress
}

const scaled = (hiddenSize: number, layers: number): ModelConfig => ({
  ...BENCH_SHAPES.standard,
  ...{ hiddenSize, layers, maxPositions: 2048 },
  intermediateSize: 8 * Math.round((hiddenSize * 8) / 3 / 8),
  heads: hiddenSize / 64,
  kvHeads: hiddenSize / 64,
})

/** By millions of weights, about. */
const MODELS: Record<string, ModelConfig> = {
  '0.3': scaled(128, 1),
  '1': scaled(128, 5),
  '3': scaled(256, 4),
  '10': scaled(384, 6),
  '30': scaled(512, 10),
  '100': scaled(896, 10),
}

type Standard = Pick<GrowthCase, 'model' | 'batch' | 'context'>
const STANDARD: Standard = { model: '3', batch: 16, context: 256 }
const BATCHES = [1, 4, 16, 64, 256]
/** Of a model that is named: larger ones take minutes a step. */
const LARGEST_BATCH = 64
/** With as many sequences as make 4,096 tokens. */
const CONTEXTS = [64, 128, 256, 512, 1024, 2048]
const CONTEXT_TOKENS = 4096
/** Rows whose context grows in decoding, and the tokens that are decoded at every size. */
const DECODED_ROWS = 32
const NEW_TOKENS = 32

const trainedAndDecoded = (one: Omit<GrowthCase, 'work'>, decodedBatch = one.batch): GrowthCase[] => [
  { ...one, work: 'train' },
  { ...one, work: 'decode', batch: decodedBatch },
]

const batchCases = (standard: Standard, largest: number): GrowthCase[] =>
  BATCHES.filter(batch => batch <= largest).flatMap(batch =>
    trainedAndDecoded({ ...standard, grows: 'batch', batch }),
  )

const contextCases = (standard: Standard, longest: number): GrowthCase[] =>
  CONTEXTS.filter(context => context <= longest).flatMap(context =>
    trainedAndDecoded(
      { ...standard, grows: 'context', context, batch: CONTEXT_TOKENS / context },
      DECODED_ROWS,
    ),
  )

/** Every size that is measured, the standard size first. */
export const growthCases = (largest: number): GrowthCase[] => [
  ...batchCases(STANDARD, Number.POSITIVE_INFINITY),
  ...contextCases(STANDARD, Number.POSITIVE_INFINITY),
  ...Object.keys(MODELS)
    .filter(name => Number(name) <= largest)
    .sort((a, b) => Number(a) - Number(b))
    .flatMap(model => trainedAndDecoded({ ...STANDARD, grows: 'model', model }, DECODED_ROWS)),
]

/** What is measured of a model that is named, or of those of the benchmark. */
const sizesOf = async ({ model, largest = 100 }: GrowthOptions) => {
  if (model === undefined) return { configs: MODELS, standard: STANDARD, all: growthCases(largest) }
  const config = loadConfig(await fetchModel(model, { only: 'config' }))
  const standard = { ...STANDARD, model, context: Math.min(STANDARD.context, config.maxPositions) }
  const all = [...batchCases(standard, LARGEST_BATCH), ...contextCases(standard, config.maxPositions)]
  return { configs: { [model]: config }, standard, all }
}

const isStandard = ({ model, batch, context, work }: GrowthCase, standard: Standard): boolean =>
  model === standard.model &&
  context === standard.context &&
  batch === (work === 'train' ? standard.batch : DECODED_ROWS)

const datumsOf = ({ batch, context }: GrowthCase, { parameters }: Engine) =>
  randomDatums('growth', batch, context, parameters.config)

/** Operations of the products of a training step, or of the decoded tokens with the context's middle in the cache. */
const flopOfCase = async (engine: Engine, one: GrowthCase): Promise<number> => {
  const [times, products] =
    one.work === 'decode'
      ? [NEW_TOKENS, await tokenProducts(engine, one.batch, one.context - NEW_TOKENS, NEW_TOKENS / 2)]
      : [1, trainProducts(engine, datumsOf(one, engine)).flat()]
  return times * products.map(flopOf).reduce((a, b) => a + b, 0)
}

/** What times a case: a training step, or the decoding of its last tokens, from when the first of them is drawn. */
const runnerOf = (engine: Engine, one: GrowthCase): (() => Promise<number>) => {
  if (one.work === 'train') return updateRunner(engine, datumsOf(one, engine))
  const rng = new Rng('growth decode')
  const { vocabSize } = engine.parameters.config
  const prompts = Array.from({ length: one.batch }, () =>
    randomTokens(rng, one.context - NEW_TOKENS, vocabSize),
  )
  const request = { prompts, samplesPerPrompt: 1, maxTokens: NEW_TOKENS, stopTokens: [] }
  return async () => {
    let firstMs: number | null = null
    await engine.sample(request, undefined, () => {
      firstMs ??= performance.now()
    })
    const restS = (performance.now() - (firstMs ?? 0)) / 1000
    return restS * (NEW_TOKENS / (NEW_TOKENS - 1))
  }
}

interface Measured {
  one: GrowthCase
  engine: Engine
  flop: number
  run: () => Promise<number>
}

/** Seconds of a case, and of the standard size measured before and after it. */
const measure = async ({ run }: Measured, standard: Measured) => {
  const before = await standard.run()
  const time = await run()
  return { time, standardTime: (before + (await standard.run())) / 2 }
}

type Times = Awaited<ReturnType<typeof measure>>

/** Measures every size between two measurements of the standard one, because machines change speed. */
export const benchGrowth = async (options: GrowthOptions = {}): Promise<GrowthBenchmark> => {
  const { threads = availableParallelism(), rounds = 2, onProgress = () => {} } = options
  const { configs, standard: usual, all } = await sizesOf(options)
  const engines = new Map<string, Engine>()
  const engineOf = (model: string): Engine => {
    const known = engines.get(model)
    if (known) return known
    const made = createEngine({ init: { config: configs[model], seed: 1 } }, { threads, maxRows: 256 })
    // One model at a time beside the standard one: the large ones take memory.
    for (const name of engines.keys()) if (name !== usual.model) engines.delete(name)
    engines.set(model, made)
    return made
  }
  const prepare = async (one: GrowthCase): Promise<Measured> => {
    const engine = engineOf(one.model)
    const measured = { one, engine, flop: await flopOfCase(engine, one), run: runnerOf(engine, one) }
    await measured.run() // compiles
    return measured
  }
  const standards = {
    train: await prepare({ ...usual, grows: 'batch', work: 'train' }),
    decode: await prepare({ ...usual, grows: 'batch', work: 'decode', batch: DECODED_ROWS }),
  }
  const points: GrowthPoint[] = []
  const { cases = all } = options
  for (const [i, one] of cases.entries()) {
    onProgress(
      `${i + 1} of ${cases.length}: ${one.work}, ${one.batch} x ${one.context}, ${options.model ?? `${one.model} million weights`}`,
    )
    const standard = standards[one.work]
    const measured = isStandard(one, usual) ? standard : await prepare(one)
    const times: Times[] = []
    while (times.length < rounds) times.push(await measure(measured, standard))
    points.push(pointOf({ ...measured, one }, standard, times))
  }
  return { threads, rounds, standard: usual, points }
}

const pointOf = (
  { one, engine, flop }: Measured,
  standard: Measured,
  times: readonly Times[],
): GrowthPoint => {
  const time = median(times.map(each => each.time))
  const tokens = one.batch * (one.work === 'train' ? one.context : NEW_TOKENS)
  return {
    ...one,
    parameters: engine.parameters.count,
    gflop: flop / 1e9,
    seconds: time,
    tokensPerSecond: tokens / time,
    gflopPerSecond: flop / 1e9 / time,
    toProportional: median(times.map(each => each.time / flop / (each.standardTime / standard.flop))),
  }
}

/** The result for people, a line a size. */
export const formatGrowthBenchmark = ({ points, threads, standard }: GrowthBenchmark): string => {
  const lines = points.map((point): ResultLine => {
    const { grows, work, batch, context, parameters, gflopPerSecond, toProportional } = point
    return [
      `${grows.padEnd(7)} ${work.padEnd(6)} ${batch} x ${context}, ${(parameters / 1e6).toFixed(1)} M`,
      `${point.seconds.toFixed(3)} s`,
      `${formatInteger(Math.round(point.tokensPerSecond))} tokens/s, ${gflopPerSecond.toFixed(1)} GFLOP/s, ${toProportional.toFixed(2)} x proportional`,
    ]
  })
  return `${threads} threads; against the standard size, ${standard.batch} x ${standard.context} tokens (decoding ${DECODED_ROWS} rows), ${standard.model === STANDARD.model ? '3.3 M' : standard.model}\n${resultTable(lines)}`
}
