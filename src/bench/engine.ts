/** @file `gradus bench engine`: training and decoding measured against the matrix product of the same runtime and threads. */

import { availableParallelism } from 'node:os'
import { loadConfig } from '../model/checkpoint.ts'
import { fetchModel } from '../model/fetch-model.ts'
import { DataParallelPolicy } from '../policy/local/data-parallel-policy.ts'
import { createEngine, type Engine, type EngineOptions, MICRO_BATCH_TOKENS } from '../policy/local/engine.ts'
import type { ModelSource } from '../policy/local/model-source.ts'
import { enginesOf } from '../policy/open.ts'
import { Executable, type ExecutableOptions, input, matmul, type Provider, slice } from '../tensor/index.ts'
import { wholePercent } from '../util/format.ts'
import { Rng } from '../util/rng.ts'
import { mean, median } from '../util/statistics.ts'
import { idealsOf } from './engine-ideals.ts'
import {
  adamwRunner,
  adapterOf,
  BENCH_SHAPES,
  type Benched,
  type BenchShape,
  DECODE_ROWS,
  decodeFlop,
  GROUPS,
  lengthsOf,
  optimizerRunner,
  raggedRunner,
  SHARED,
  STEADY_ROW,
  seconds,
  type Work,
  worksOf,
} from './engine-work.ts'
import { type OnProgress, type ResultLine, resultTable } from './result-table.ts'

const MATMUL_SIZE = 1024
/** Products in a row before anything leaves the runtime, so that its rate is that of arithmetic alone. */
const MATMUL_CHAIN = 6
export interface BenchOptions {
  /** `cpu` by default. */
  provider?: Provider
  /** `standard` by default. */
  shape?: BenchShape
  /** Folder of a model whose shape is taken in place of a standard one; its weights are not read. */
  model?: string
  /** Rank of an adapter that is trained in place of all weights; 0, the default: all weights. */
  loraRank?: number
  /** All cores by default. */
  threads?: number
  /** Engines that share the work and the threads; as `policy.engines` by default. */
  engines?: number
  /** Times everything is measured; medians are reported. */
  rounds?: number
  /** Layers are computed a second time for their gradient (`policy.recompute`). */
  recompute?: boolean
  /** Whether memory of a computation is kept for the next (`policy.arena`); true by default. */
  arena?: boolean
  /** As `policy.microBatchTokens`; 2,048 by default. */
  microBatchTokens?: number
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
  /** Rank of the adapter that was trained; 0: all weights. */
  loraRank: number
  threads: number
  /** As `policy.engines`: among so many the work and the threads were divided. */
  engines: number
  /** Whether layers were computed a second time for their gradient. */
  recompute: boolean
  /** As `policy.arena`: whether memory of a computation was kept for the next. */
  arena: boolean
  microBatchTokens: number
  /** 1024^3 float32 products. */
  matmulGflops: number
  /** One update of 16 sequences of 256 tokens, or of the model's context where that is shorter, from datums to changed weights. */
  trainStepSeconds: number
  trainGflops: number
  trainToMatmul: number
  /** The matrix products of that step alone, in the same process: what it would take if nothing else were to do. */
  idealTrainSeconds: number
  /** The step over its ideal, measured right before and after it by one engine of all threads: 1 is the least that such an engine takes. */
  trainToIdeal: number
  /** One update of 16 groups of 8 samples of different lengths, each group behind its own prompt, padding not counted as work. */
  groupTrainSeconds: number
  groupTrainGflops: number
  groupTrainToMatmul: number
  /** By rows: prompt of 16, 128 new tokens at temperature 1, prompt pass included. */
  decodeTokensPerSecond: Record<string, number>
  /** A row with weights that did not change before it, as in a chat; the first decoding after an update makes its graph anew. */
  steadyRowTokensPerSecond: number
  decodeToMatmul: Record<string, number>
  /** By rows: if the matrix products of a token in the middle were all there is to do, the prompt's not counted. */
  idealDecodeTokensPerSecond: Record<string, number>
  /** The rate over its ideal, of one engine of all threads: 1 is the most that such an engine gives. */
  decodeToIdeal: Record<string, number>
  /** By prompts x samples. */
  sharedPromptTokensPerSecond: Record<string, number>
  sharedPromptToMatmul: Record<string, number>
  /** 16 prompts x 8 samples of which each ends where it happens to, after a quarter of the longest in the middle: means over rounds. */
  raggedDecode: { prompts: number; samples: number; seconds: number; tokens: number; longest: number }
  /** A whole step of the optimiser: the gradient's norm, AdamW, and of several engines what they pass to each other. */
  optimizerMsPerMillionParams: number
  /** AdamW alone, on one thread; null with a GPU, which takes the step there. */
  adamwMsPerMillionParams: number | null
  peakRssMb: number
}

const benchedEngine = (engine: Engine): Benched => ({
  config: engine.parameters.config,
  parameterCount: engine.parameters.count,
  trainedCount: engine.parameters.trainedCount,
  sample: (...request) => engine.sample(...request),
  accumulate: (datums, options) => engine.accumulate(datums, options),
  step: options => engine.step(options),
})

/** One engine in this thread, or several in threads of their own, and what ends them; and an engine whose products are the ideals. */
const openBenched = async (source: ModelSource, engines: number, options: EngineOptions) => {
  if (engines === 1) {
    const engine = createEngine(source, options)
    return { benched: benchedEngine(engine), close: async () => {}, forIdeals: () => engine }
  }
  const policy = await DataParallelPolicy.start(source, { ...options, engines })
  return {
    benched: policy satisfies Benched,
    close: () => policy.close(),
    forIdeals: () => createEngine(source, options),
  }
}

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

/** In every round its rate in GFLOP/s, the rate over that of the matrix products around it, and the seconds of its ideal. */
interface Series {
  rates: number[]
  ratios: number[]
  idealSeconds: number[]
  /** Seconds over those of the ideal around it. */
  toIdeal: number[]
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
 * Measures the engine on the standard workload. One engine runs in the calling thread, as in the policy's worker, so that no message
 * passing is timed; several run in threads of theirs, messages included. Yardsticks are measured around every piece, because machines
 * change speed: the matrix product of 1024^3, and the very products of the piece, run alone.
 */
export const benchEngine = async (options: BenchOptions = {}): Promise<EngineBenchmark> => {
  const {
    provider = 'cpu',
    shape = 'standard',
    rounds = 5,
    recompute = false,
    loraRank = 0,
    arena = true,
    microBatchTokens = MICRO_BATCH_TOKENS,
    onProgress = () => {},
  } = options
  const threads = options.threads ?? availableParallelism()
  const running = { provider, threads, arena }
  const { model } = options
  const config =
    model === undefined ? BENCH_SHAPES[shape] : loadConfig(await fetchModel(model, { only: 'config' }))
  const engines = options.engines ?? enginesOf(running, () => config)
  const name = model ?? shape
  const { newTokens, promptTokens, sequence } = lengthsOf(config)
  const source = { init: { config, seed: 1 }, ...adapterOf(loraRank) }
  const opened = await openBenched(source, engines, { ...running, recompute, microBatchTokens })
  const { benched, close } = opened
  const optimizer = optimizerRunner(benched)
  const flopPerToken = decodeFlop(name, benched.parameterCount)
  const works = worksOf(benched, flopPerToken)
  // Graphs are compiled and memory is taken; the yardsticks' own memory comes after the peak was read.
  for (const { run } of works.values()) await run()
  const ragged = raggedRunner(benched)
  await ragged(0)
  await optimizer()
  const peakRssMb = Math.round(process.resourceUsage().maxRSS / 1024)
  const matmulRate = await matmulRunner(running)
  const whole = opened.forIdeals()
  const adamw = adamwRunner(whole.parameters)
  const ideals = await idealsOf(whole, running)
  onProgress('warmed up')

  const timed: Timed = {
    ...{ matmulRates: [], optimizerMs: [], adamwMs: [], raggedRuns: [] },
    series: new Map([...works.keys()].map(work => [work, emptySeries()])),
  }
  for (let round = 1; round <= rounds; round++) {
    for (const [work, own] of works)
      timed.matmulRates.push(await measureWork(own, matmulRate, ideals.get(work), timed.series.get(work)!))
    timed.raggedRuns.push(await ragged(round))
    for (let i = 0; i < OPTIMIZER_STEPS; i++) {
      timed.optimizerMs.push(await optimizer())
      timed.adamwMs.push(adamw())
    }
    onProgress(`round ${round} of ${rounds}`)
  }
  await close()
  return {
    ...{ provider, shape: name, parameters: benched.parameterCount, loraRank, threads, engines },
    ...{ recompute, arena, microBatchTokens },
    workload: {
      ...{ layers: config.layers, hiddenSize: config.hiddenSize },
      queryWidth: config.heads * config.headDim,
      ...{ promptTokens, newTokens, sequence },
    },
    ...valuesOf(timed, works, { flopPerToken, newTokens }),
    ...(provider !== 'cpu' && { adamwMsPerMillionParams: null }),
    peakRssMb,
  }
}

/** What was timed, a number a round or more. */
interface Timed {
  series: ReadonlyMap<string, Series>
  matmulRates: number[]
  optimizerMs: number[]
  adamwMs: number[]
  raggedRuns: Awaited<ReturnType<ReturnType<typeof raggedRunner>>>[]
}

/** Medians of what was timed, as the report has them. */
const valuesOf = (
  { series, matmulRates, optimizerMs, adamwMs, raggedRuns }: Timed,
  works: ReturnType<typeof worksOf>,
  { flopPerToken, newTokens }: { flopPerToken: number; newTokens: number },
) => {
  const of = (name: string, values: keyof Series) => median(series.get(name)![values])
  const per = (names: readonly string[], value: (name: string) => number) =>
    Object.fromEntries(names.map(name => [name, value(name)]))
  const ratioOf = (name: string) => fourDigits(of(name, 'ratios'))
  const tokenRate = (name: string) => Math.round((of(name, 'rates') * 1e9) / flopPerToken)
  const rows = DECODE_ROWS.map(String)
  const shared = SHARED.map(([prompts, samples]) => `${prompts}x${samples}`)
  const secondsOf = (name: string) => fourDigits(works.get(name)!.flop / 1e9 / of(name, 'rates'))
  const meanOf = (value: (run: Timed['raggedRuns'][number]) => number) =>
    fourDigits(mean(raggedRuns.map(value)))
  return {
    matmulGflops: fourDigits(median(matmulRates)),
    trainStepSeconds: secondsOf('train'),
    trainGflops: fourDigits(of('train', 'rates')),
    trainToMatmul: ratioOf('train'),
    idealTrainSeconds: fourDigits(of('train', 'idealSeconds')),
    trainToIdeal: fourDigits(of('train', 'toIdeal')),
    groupTrainSeconds: secondsOf('groups'),
    groupTrainGflops: fourDigits(of('groups', 'rates')),
    groupTrainToMatmul: ratioOf('groups'),
    decodeTokensPerSecond: per(rows, tokenRate),
    steadyRowTokensPerSecond: tokenRate(STEADY_ROW),
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
      seconds: meanOf(({ seconds }) => seconds),
      tokens: meanOf(({ tokens }) => tokens),
      longest: meanOf(({ longest }) => longest),
    },
    optimizerMsPerMillionParams: fourDigits(median(optimizerMs)),
    adamwMsPerMillionParams: fourDigits(median(adamwMs)),
  }
}

/** Steps of the optimiser that are timed in a round: one is a matter of milliseconds. */
const OPTIMIZER_STEPS = 3

const emptySeries = (): Series => ({ rates: [], ratios: [], idealSeconds: [], toIdeal: [] })

const fourDigits = (x: number): number => Number(x.toPrecision(4))

const threadsOf = ({ threads, engines }: EngineBenchmark): string =>
  engines === 1 ? `${threads} threads` : `${threads} threads; what follows on ${engines} engines`

/** The benchmark as a table for people. */
export const formatEngineBenchmark = (result: EngineBenchmark): string => {
  const share = (ratio: number) => `${wholePercent(ratio)} of it`
  const decoding = Object.entries(result.decodeTokensPerSecond).map(
    ([rows, rate]): ResultLine => [
      `decode, ${rows} ${rows === '1' ? 'row' : 'rows'}`,
      `${rate} tokens/s`,
      `${share(result.decodeToMatmul[rows])}; ${wholePercent(result.decodeToIdeal[rows])} of its products alone, ${result.idealDecodeTokensPerSecond[rows]}`,
    ],
  )
  const shared = Object.entries(result.sharedPromptTokensPerSecond).map(
    ([name, rate]): ResultLine => [
      `decode, ${name.replace('x', ' prompts x ')} samples`,
      `${rate} tokens/s`,
      share(result.sharedPromptToMatmul[name]),
    ],
  )
  const rows: ResultLine[] = [
    [
      'matrix product 1024^3',
      `${result.matmulGflops} GFLOP/s`,
      result.provider === 'cpu' ? threadsOf(result) : 'WebGPU',
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
    ['decode, 1 row, weights unchanged', `${result.steadyRowTokensPerSecond} tokens/s`, ''],
    ...shared,
    [
      'the last, each sample ending at random',
      `${Math.round(result.raggedDecode.tokens / result.raggedDecode.seconds)} tokens/s`,
      '',
    ],
    [
      'optimiser',
      `${result.optimizerMsPerMillionParams} ms per million parameters`,
      result.adamwMsPerMillionParams === null
        ? ''
        : `AdamW alone, on one thread ${result.adamwMsPerMillionParams}`,
    ],
    ['peak memory', `${result.peakRssMb} MB`, ''],
  ]
  return resultTable(rows)
}
