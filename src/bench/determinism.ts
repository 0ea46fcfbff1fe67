/** @file `gradus bench determinism`: everything that computes numbers, again and again on several threads beside a busy loop. */

import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { cpus } from 'node:os'
import type { ModelConfig } from '../model/config.ts'
import { createEngine } from '../policy/local/engine.ts'
import { PairedPolicy } from '../policy/local/paired-policy.ts'
import { rolloutDatums } from '../policy/local/rollout-datums.ts'
import { updateOnce } from '../policy/update.ts'
import { LOSS_PRESETS } from '../rl/loss-presets.ts'
import { DETERMINISM_SIZES, type DeterminismSize, determinismCases } from '../tensor/determinism-cases.ts'
import { checkDeterminism } from '../tensor/determinism-check.ts'
import { UsageError } from '../util/errors.ts'
import { KERNEL_CASES, type RepeatedCase } from './determinism-kernels.ts'
import { BENCH_SHAPES } from './engine-work.ts'
import { type OnProgress, resultTable } from './result-table.ts'

const STEPS = 2

/** Tiny but for its width: the runtime adds rows on several threads from about 250,000 elements on, a thousand rows here. */
const MODEL: ModelConfig = {
  ...BENCH_SHAPES.standard,
  ...{ vocabSize: 8, intermediateSize: 64, layers: 1 },
  ...{ kvHeads: 2, headDim: 16, maxPositions: 64 },
  ...{ ropeTheta: 1000, bosTokenId: 0, initializerRange: 0.1 },
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
const ENGINE_CASES: Readonly<Record<string, RepeatedCase>> = {
  'engine/training': { run: train },
  'engine/sampling while another one learns': {
    run: threads => trainPaired(threads, true),
    fromReference: async () => {
      const [together, apart] = [await trainPaired(2, true), await trainPaired(2, false)]
      return Buffer.compare(together, apart) === 0 ? 0 : Infinity
    },
  },
}

/** Relative to the largest number of an output: what float32 sums of a million numbers may differ in by rounding. */
const ROUNDING = 1e-4

/** What became of one case at one size. */
interface DeterminismCounts {
  runs: number
  /** Runs with other bits than the first. */
  differing: number
  sameAsOneThread: boolean | null
  /** Largest relative difference from one thread, and from plain float64 arithmetic; null where it is not compared. */
  fromOneThread: number | null
  fromReference: number | null
  /** Operators that the runtime cut into blocks for its threads; null for what is not one graph. */
  divided: readonly string[] | null
}

/** `whole` is the size of what has only one. */
type DeterminismSizes = Partial<Record<DeterminismSize | 'whole', DeterminismCounts>>

export interface DeterminismBenchmark {
  runs: number
  threads: number
  node: string
  onnxruntime: string
  processor: string
  /** Rows of 256 numbers. */
  rows: typeof DETERMINISM_SIZES
  cases: Record<string, DeterminismSizes>
  /** Cases and sizes that differ from run to run, or from plain arithmetic by more than rounding. */
  wrong: readonly string[]
}

export interface DeterminismOptions {
  /** 50 by default. */
  runs?: number
  /** 2 by default. */
  threads?: number
  /** Only the cases of this name, or of one operation. */
  only?: string
  /** Sizes to go through; all by default. */
  sizes?: readonly DeterminismSize[]
  onProgress?: OnProgress
}

/** A process that computes until this one lets it go, or ends. */
const LOOP = `
process.on('disconnect', () => process.exit())
const spin = () => { const end = Date.now() + 20; while (Date.now() < end); setImmediate(spin) }
spin()`

const besideBusyProcess = async <T>(work: () => Promise<T>): Promise<T> => {
  const loop = spawn(process.execPath, ['-e', LOOP], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  try {
    return await work()
  } finally {
    loop.kill('SIGKILL')
  }
}

const isChosen = (name: string, only: string | undefined) =>
  only === undefined || name === only || name.split('/')[0] === only

const checkOperation = async (
  name: string,
  size: DeterminismSize,
  runs: number,
  threads: number,
): Promise<DeterminismCounts> => {
  const { build, inputs, withGradient } = determinismCases(DETERMINISM_SIZES[size])[name]
  const check = await checkDeterminism(build, inputs, {
    runs,
    threads,
    withGradient,
    spinning: false,
    // At the largest size one thread is compared with alone: it is the same arithmetic, and plain sums take minutes.
    reference: size !== 'huge',
    profile: true,
  })
  const { differing, sameAsOneThread, worst, fromReference, divided } = check
  return { runs, differing, sameAsOneThread, fromOneThread: worst, fromReference, divided }
}

const checkRepeated = async (
  { run, fromReference }: RepeatedCase,
  runs: number,
  threads: number,
): Promise<DeterminismCounts> => {
  const first = await run(threads)
  let differing = 0
  for (let again = 1; again < runs; again++) if (Buffer.compare(await run(threads), first) !== 0) differing++
  return {
    runs,
    differing,
    sameAsOneThread: null,
    fromOneThread: null,
    fromReference: fromReference ? await fromReference() : null,
    divided: null,
  }
}

const isWrong = ({ differing, fromOneThread, fromReference }: DeterminismCounts): boolean =>
  differing > 0 || !(Math.max(fromOneThread ?? 0, fromReference ?? 0) < ROUNDING)

const repeated: Readonly<Record<string, RepeatedCase>> = { ...KERNEL_CASES, ...ENGINE_CASES }

/** Names of all cases, for messages and tests. */
export const determinismNames = (): string[] => [
  ...Object.keys(determinismCases(DETERMINISM_SIZES.small)),
  ...Object.keys(repeated),
]

/**
 * Repeats every operation at every size, the WebAssembly kernels, the choice of tokens, and whole engines beside each other, while
 * another process computes; compares bits from run to run, and numbers with one thread and with plain arithmetic.
 * @throws UsageError when no case is called `only`
 */
export const benchDeterminism = async (options: DeterminismOptions = {}): Promise<DeterminismBenchmark> => {
  const { runs = 50, threads = 2, only, onProgress = () => {} } = options
  const sizes = options.sizes ?? (Object.keys(DETERMINISM_SIZES) as DeterminismSize[])
  const names = determinismNames().filter(name => isChosen(name, only))
  if (names.length === 0)
    throw new UsageError(`--only ${only}: there is no such operation`, {
      hint: `choose from ${[...new Set(determinismNames().map(name => name.split('/')[0]))].join(', ')}`,
    })
  const cases: Record<string, DeterminismSizes> = {}
  const wrong: string[] = []
  const keep = (name: string, size: DeterminismSize | 'whole', value: DeterminismCounts) => {
    cases[name] = { ...cases[name], [size]: value }
    if (isWrong(value)) wrong.push(`${name} (${size})`)
  }
  await besideBusyProcess(async () => {
    for (const [at, name] of names.entries()) {
      onProgress(`${at + 1}/${names.length} ${name}`)
      if (repeated[name]) keep(name, 'whole', await checkRepeated(repeated[name], runs, threads))
      else for (const size of sizes) keep(name, size, await checkOperation(name, size, runs, threads))
    }
  })
  const { version } = createRequire(import.meta.url)('onnxruntime-node/package.json') as { version: string }
  return {
    runs,
    threads,
    node: process.version,
    onnxruntime: version,
    processor: cpus()[0]?.model ?? 'unknown',
    rows: DETERMINISM_SIZES,
    cases,
    wrong,
  }
}

const countsOf = ({ differing, sameAsOneThread, divided }: DeterminismCounts): string =>
  `${differing}${sameAsOneThread === false ? '*' : ''}${divided?.length === 0 ? '-' : ''}`

/** A line for each case with the number of differing runs at each size. */
export const formatDeterminismBenchmark = ({ cases, runs, threads, wrong }: DeterminismBenchmark): string => {
  const lines = Object.entries(cases).map(([name, sizes]) => {
    const values = Object.entries(sizes)
    const shown = values.map(([size, value]) => `${size} ${countsOf(value).padEnd(3)}`).join('  ')
    const compared = values.flatMap(([, { fromReference }]) =>
      fromReference === null ? [] : [fromReference],
    )
    const note = compared.length > 0 ? `${Math.max(...compared).toExponential(0)} from plain arithmetic` : ''
    return [name, shown.trimEnd(), note] as const
  })
  const verdict = wrong.length > 0 ? `wrong: ${wrong.join(', ')}` : 'every run gave the same bits'
  return `${resultTable(lines)}

Runs of ${runs} on ${threads} threads that differ from the first. * not the bits of one thread; - the runtime does not divide it.
${verdict}`
}
