/** @file Runs a graph again and again on several threads and compares bits: for this engine's operations and for yours. */

import { Executable, type ExecutableOptions, type Value, type Values } from './executable.ts'
import { type CheckInput, named, onlyUsed, weightedGradients } from './gradient-check.ts'
import { input, type Tensor } from './tensor.ts'

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
}

export interface DeterminismCheckOptions extends Omit<ExecutableOptions, 'threads'> {
  /** Threads to compare with one; 2 by default. */
  threads?: number
  /** 50 by default. */
  runs?: number
  /** True by default; for functions without a gradient, such as comparisons, false. */
  withGradient?: boolean
}

/**
 * Computes a function's outputs and, unless `withGradient` is false, the gradient of a weighted sum of them: once on one
 * thread and `runs` times on several. Inputs have to be so large that the runtime divides the work: about 300,000 elements.
 */
export const checkDeterminism = async (
  build: (inputs: Tensor[]) => Tensor | Tensor[],
  inputs: readonly CheckInput[],
  { threads = 2, runs = 50, withGradient = true, ...options }: DeterminismCheckOptions = {},
): Promise<DeterminismCheck> => {
  const tensors = inputs.map(({ shape, dtype }, i) => input(`x${i}`, shape, dtype))
  const results = [build(tensors)].flat()
  const differentiated = tensors.filter((x, i) => x.dtype === 'float32' && !inputs[i].fixed)
  const outputs = {
    ...named('y', results),
    ...(withGradient && named('d', weightedGradients(results, differentiated))),
  }
  const values = {
    ...named('x', inputs.map(toValue)),
    ...(withGradient && named('weights', results.map(weightsFor))),
  }
  const one = await Executable.compile(outputs, { ...options, threads: 1 })
  const expected = await one.run(onlyUsed(one, values))
  await one.release()
  const several = await Executable.compile(outputs, { ...options, threads })
  const first = await several.run(onlyUsed(several, values))
  let [differing, worst] = [0, largestDifference(first, expected)]
  for (let run = 1; run < runs; run++) {
    const found = await several.run(onlyUsed(several, values))
    if (sameBits(found, first)) continue
    differing++
    worst = Math.max(worst, largestDifference(found, expected))
  }
  await several.release()
  return { runs, differing, sameAsOneThread: sameBits(first, expected), worst }
}

const toValue = ({ data, shape }: CheckInput): Value => ({ data, dims: shape })

const weightsFor = ({ shape }: Tensor): Value => {
  const dims = shape as number[]
  const count = dims.reduce((a, b) => a * b, 1)
  return { data: Float32Array.from({ length: count }, (_, i) => Math.sin(i + 1)), dims }
}

const bytes = ({ data }: Value) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength)

const sameBits = (a: Values, b: Values): boolean =>
  Object.keys(a).every(name => Buffer.compare(bytes(a[name]), bytes(b[name])) === 0)

const largestDifference = (a: Values, b: Values): number => {
  if (sameBits(a, b)) return 0
  return Math.max(
    ...Object.keys(a).map(name => {
      const [found, expected] = [a[name].data, b[name].data]
      let [difference, largest] = [0, 0]
      for (let i = 0; i < found.length; i++) {
        const apart = Math.abs(Number(found[i]) - Number(expected[i]))
        if (Number.isNaN(apart) && !Object.is(found[i], expected[i])) return Infinity
        difference = Math.max(difference, apart || 0)
        largest = Math.max(largest, Math.abs(Number(expected[i])) || 0)
      }
      return difference === 0 ? 0 : difference / largest
    }),
  )
}
