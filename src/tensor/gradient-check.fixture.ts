/** @file Compares a graph's gradients with central differences: for this engine's operations and for yours. */

import { Rng } from '../util/rng.ts'
import { type CheckInput, named, onlyUsed, weightedGradients } from './determinism-check.ts'
import { Executable, type ExecutableOptions, type TensorValue, type Values } from './executable.ts'
import { input, type Tensor } from './tensor.ts'

export interface GradientCheck {
  /** Values of the function's outputs. */
  outputs: TensorValue[]
  /** Largest difference between a derivative and its estimate, relative to that input's largest derivative (at least 1). */
  worst: number
  /** Derivatives compared. */
  checked: number
  /** Which element that was, for messages. */
  where: string
}

export interface GradientCheckOptions extends ExecutableOptions {
  /** Distance between the points of the difference scheme. */
  step?: number
  seed?: number
}

/**
 * Differentiates a random weighted sum of all outputs through the graph and by fourth-order central differences,
 * (f(x-2h) - 8 f(x-h) + 8 f(x+h) - f(x+2h)) / 12h: their truncation error is small enough for the large steps that float32
 * needs. The sum is taken in float64 outside the graph. Keep inputs 2h away from kinks.
 */
export const checkGradients = async (
  build: (inputs: Tensor[]) => Tensor | Tensor[],
  inputs: readonly CheckInput[],
  { step = 0.02, seed = 0, ...options }: GradientCheckOptions = {},
): Promise<GradientCheck> => {
  const tensors = inputs.map(({ shape, dtype }, i) => input(`x${i}`, shape, dtype))
  const results = [build(tensors)].flat()
  const forward = await Executable.compile(named('y', results), options)
  const feeds = named(
    'x',
    inputs.map(({ data, shape }) => ({ data, dims: shape })),
  )
  const first = await forward.run(onlyUsed(forward, feeds))
  const outputs = results.map((_, i) => first[`y${i}`])
  const rng = new Rng(seed)
  const weights = outputs.map(({ data }) =>
    Float32Array.from({ length: data.length }, () => 2 * rng.next() - 1),
  )
  const loss = async () => {
    const values = await forward.run(onlyUsed(forward, feeds))
    return weights.reduce((sum, weight, i) => sum + dot(values[`y${i}`].data as Float32Array, weight), 0)
  }
  const derivatives = await graphGradients(tensors, results, feeds, weights, options)
  const report = { outputs, worst: 0, checked: 0, where: 'all exact' }
  for (const [i, { data, dtype = 'float32', fixed }] of inputs.entries()) {
    if (dtype !== 'float32' || fixed) continue
    const derivative = derivatives[`d${i}`].data as Float32Array
    const largest = Math.max(1, ...derivative.map(Math.abs))
    for (const [at, got] of derivative.entries()) {
      const estimate = await centralDifference(data as Float32Array, at, step, loss)
      report.checked++
      const error = Math.abs(got - estimate) / largest
      if (error <= report.worst) continue // false for NaN
      report.worst = Number.isNaN(error) ? Infinity : error
      report.where = `input ${i}, element ${at}: gradient ${got}, by differences ${estimate}`
    }
  }
  await forward.release()
  return report
}

const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * b[i], 0)

const graphGradients = async (
  tensors: readonly Tensor[],
  results: readonly Tensor[],
  feeds: Values,
  weights: readonly Float32Array[],
  options: ExecutableOptions,
): Promise<Record<string, TensorValue>> => {
  const graph = await Executable.compile(
    named('d', weightedGradients(results, tensors.filter(isFloat))),
    options,
  )
  const shapes = results.map(({ shape }) => shape as number[])
  const weightFeeds = named(
    'weights',
    weights.map((data, i) => ({ data, dims: shapes[i] })),
  )
  const found = await graph.run(onlyUsed(graph, { ...feeds, ...weightFeeds }))
  await graph.release()
  const order = tensors.flatMap((x, i) => (isFloat(x) ? [i] : []))
  return Object.fromEntries(order.map((i, at) => [`d${i}`, found[`d${at}`]]))
}

const isFloat = ({ dtype }: Tensor) => dtype === 'float32'

/** Derivative of `loss` with respect to one element of an array that it reads. */
const centralDifference = async (
  data: Float32Array,
  at: number,
  step: number,
  loss: () => Promise<number>,
): Promise<number> => {
  const centre = data[at]
  const shifted = async (steps: number) => {
    data[at] = centre + steps * step
    return { value: await loss(), at: data[at] }
  }
  const [a, b, c, d] = [await shifted(-2), await shifted(-1), await shifted(1), await shifted(2)]
  data[at] = centre
  // Rounding of x +- h is taken into account: the distances are those of the float32 values.
  return (8 * (c.value - b.value) - (d.value - a.value)) / (8 * (c.at - b.at) - (d.at - a.at))
}
