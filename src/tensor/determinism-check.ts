/** @file Runs a graph again and again on several threads and compares bits: for this engine's operations and for yours. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Executable, type ExecutableOptions, type TensorValue, type Values } from './executable.ts'
import { gradients } from './gradients.ts'
import { add, mul } from './ops/elementwise.ts'
import { reduceSum } from './ops/reduce.ts'
import { computePlainly } from './reference.ts'
import { type DType, input, type Tensor, type TensorData } from './tensor.ts'

/** An input of the function under test. float32 inputs are differentiated unless `fixed`. */
export interface CheckInput {
  shape: readonly number[]
  data: TensorData
  dtype?: DType
  fixed?: boolean
}

export interface DeterminismCheck {
  /** Runs on several threads. */
  runs: number
  /** How many of them gave other bits than the first. */
  differing: number
  /** Whether the first has the bits that one thread gives. */
  sameAsOneThread: boolean
  /**
   * Largest difference from the result of one thread over all runs, relative to the largest number of that output;
   * Infinity where one has a NaN and the other has not.
   */
  worst: number
  /** The same from plain float64 arithmetic (`computePlainly`); null when it was not asked for. */
  fromReference: number | null
  /** Operators that the runtime offered to more than one thread, in alphabetical order; null when it was not asked for. */
  divided: readonly string[] | null
  /** Kinds of nodes in the graph; see `OnnxModel.signatures`. */
  signatures: readonly string[]
}

export interface DeterminismCheckOptions extends Omit<ExecutableOptions, 'threads' | 'profilePrefix'> {
  /** Threads to compare with one; 2 by default. */
  threads?: number
  /** 50 by default. */
  runs?: number
  /** True by default; for functions without a gradient, such as comparisons, false. */
  withGradient?: boolean
  /** Compares with plain arithmetic too; false by default, because it is slow. */
  reference?: boolean
  /** Asks the runtime which operators it divides; false by default. */
  profile?: boolean
}

/** Items under `prefix` and their number. */
export const named = <T>(prefix: string, items: readonly T[]): Record<string, T> =>
  Object.fromEntries(items.map((item, i) => [`${prefix}${i}`, item]))

/** A function may ignore an input, which is then no input of its graph. */
export const onlyUsed = ({ model }: Executable, values: Values): Values => {
  const used = new Set(model.inputs.map(({ name }) => name))
  return Object.fromEntries(Object.entries(values).filter(([name]) => used.has(`in.${name}`)))
}

/** Gradients of a weighted sum of all elements of the results; the weights are inputs, `weights0` and so on. */
export const weightedGradients = (results: readonly Tensor[], wrt: readonly Tensor[]): Tensor[] => {
  const sums = results.map((y, i) => reduceSum(mul(y, input(`weights${i}`, y.shape))))
  return gradients(
    sums.reduce((a, b) => add(a, b)),
    wrt,
  )
}

/** A function's outputs, and the gradient of a weighted sum of them, with something to feed. */
export const graphOf = (
  build: (inputs: Tensor[]) => Tensor | Tensor[],
  inputs: readonly CheckInput[],
  withGradient: boolean,
) => {
  const tensors = inputs.map(({ shape, dtype }, i) => input(`x${i}`, shape, dtype))
  const results = [build(tensors)].flat()
  const differentiated = tensors.filter((x, i) => x.dtype === 'float32' && !inputs[i].fixed)
  const outputs: Record<string, Tensor> = {
    ...named('y', results),
    ...(withGradient && named('d', weightedGradients(results, differentiated))),
  }
  const values: Values = {
    ...named('x', inputs.map(toValue)),
    ...(withGradient && named('weights', results.map(weightsFor))),
  }
  return { outputs, values }
}

/**
 * Computes a function's outputs and, unless `withGradient` is false, the gradient of a weighted sum of them: once on one
 * thread and `runs` times on several. Inputs have to be so large that the runtime divides the work: about 300,000 elements.
 */
export const checkDeterminism = async (
  build: (inputs: Tensor[]) => Tensor | Tensor[],
  inputs: readonly CheckInput[],
  options: DeterminismCheckOptions = {},
): Promise<DeterminismCheck> => {
  const { threads = 2, runs = 50, withGradient = true, reference = false, profile = false, ...rest } = options
  const { outputs, values } = graphOf(build, inputs, withGradient)
  const one = await Executable.compile(outputs, { ...rest, threads: 1 })
  const feeds = onlyUsed(one, values)
  const expected = await one.run(feeds)
  await one.release()
  const several = await Executable.compile(outputs, { ...rest, threads })
  const first = await several.run(feeds)
  let [differing, worst] = [0, largestDifference(first, expected)]
  for (let run = 1; run < runs; run++) {
    const found = await several.run(feeds)
    if (sameBits(found, first)) continue
    differing++
    worst = Math.max(worst, largestDifference(found, expected))
  }
  await several.release()
  return {
    runs,
    differing,
    sameAsOneThread: sameBits(first, expected),
    worst,
    fromReference: reference ? largestDifference(first, computePlainly(outputs, feeds)) : null,
    divided: profile ? await dividedOperators(outputs, feeds, { ...rest, threads }) : null,
    signatures: several.model.signatures,
  }
}

/** One node's entry in the profile of ONNX Runtime. */
interface ProfileEvent {
  cat: string
  args?: { op_name?: string; thread_scheduling_stats?: { main_thread?: { block_size: number[] } } }
}

/** Operators that the runtime cut into blocks for its threads, after its own rewriting of the graph. */
const dividedOperators = async (
  outputs: Readonly<Record<string, Tensor>>,
  feeds: Values,
  options: ExecutableOptions,
): Promise<string[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-profile-'))
  try {
    const graph = await Executable.compile(outputs, { ...options, profilePrefix: join(folder, 'run') })
    await graph.run(feeds)
    graph.endProfiling()
    await graph.release()
    const text = readdirSync(folder).map(name => readFileSync(join(folder, name), 'utf8'))
    const events = text.flatMap(json => JSON.parse(json) as ProfileEvent[])
    const isDivided = ({ cat, args }: ProfileEvent) =>
      cat === 'Node' && (args?.thread_scheduling_stats?.main_thread?.block_size.length ?? 0) > 0
    return [...new Set(events.filter(isDivided).map(({ args }) => args!.op_name!))].sort()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const toValue = ({ data, shape }: CheckInput): TensorValue => ({ data, dims: shape })

const weightsFor = ({ shape }: Tensor): TensorValue => {
  const dims = shape as number[]
  const count = dims.reduce((a, b) => a * b, 1)
  return { data: Float32Array.from({ length: count }, (_, i) => Math.sin(i + 1)), dims }
}

const bytes = ({ data }: TensorValue) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength)

const sameBits = (a: Values, b: Values): boolean =>
  Object.keys(a).every(name => Buffer.compare(bytes(a[name]), bytes(b[name])) === 0)

/** Numbers by name, of any kind. */
type Numbers = Record<string, { data: ArrayLike<number | bigint> }>

const largestDifference = (a: Numbers, b: Numbers): number =>
  Math.max(
    ...Object.keys(a).map(name => {
      const [found, expected] = [a[name].data, b[name].data]
      let [difference, largest] = [0, 0]
      for (let i = 0; i < found.length; i++) {
        const apart = Math.abs(Number(found[i]) - Number(expected[i]))
        if (Number.isNaN(apart) && !Object.is(Number(found[i]), Number(expected[i]))) return Infinity
        difference = Math.max(difference, apart || 0)
        largest = Math.max(largest, Math.abs(Number(expected[i])) || 0)
      }
      return difference === 0 ? 0 : difference / largest
    }),
  )
