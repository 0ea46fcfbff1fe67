/** @file Products with a matrix of 8 bits: the other factor is rounded as well, each of its rows to 16 bits. */

import { ShapeError } from '../../util/errors.ts'
import { product, showShape } from '../dim.ts'
import { apply1, constant, type Op, type Tensor } from '../tensor.ts'
import { abs, add, expand, maximum, mul, sub } from './elementwise.ts'
import { matmul } from './matmul.ts'
import { rowSum } from './nn.ts'
import { reduceMax } from './reduce.ts'
import { concat, reshape, transpose } from './shape.ts'

type None = Record<never, never>

/**
 * Of signed codes the runtime's kernels are the fastest where a processor adds up products of bytes in 32 bits; of unsigned ones they
 * are exact on all processors.
 */
export type CodeType = 'int8' | 'uint8'

/** A matrix W [O, I] in 8 bits: W[o, i] = (codes[i, o] - zero point) * scales[o]; the zero point of unsigned codes is 128. */
export interface QuantizedMatrix {
  /** int8 or uint8 [I, O] */
  codes: Tensor
  /** float32 [O] */
  scales: Tensor
}

/** Largest code. -128 is left out, so that a number and its negative are rounded alike. */
const LARGEST = 127
/** Codes of the other factor are always unsigned. */
const ZERO_POINTS = {
  int8: constant(Int8Array.of(0), [], 'int8'),
  uint8: constant(Uint8Array.of(LARGEST + 1), [], 'uint8'),
}
const ONE = constant(Float32Array.of(1), [])

/** x [N, I] in whole steps, each row by its own [N]; the type is that of the zero points [N]. */
const quantizeOp: Op<None> = {
  name: 'quantizeRows',
  infer: ([x, _steps, zeroPoints]) => [{ dtype: zeroPoints.dtype, shape: x.shape }],
  emit: inputs => ({ type: 'QuantizeLinear', attributes: { axis: 0 }, inputs: [...inputs] }),
}

const dequantizeOp: Op<None> = {
  name: 'dequantizeRows',
  infer: ([codes]) => [{ dtype: 'float32', shape: codes.shape }],
  emit: inputs => ({ type: 'DequantizeLinear', attributes: { axis: 0 }, inputs: [...inputs] }),
}

/** Of a row of zeros this is the largest magnitude. */
const SMALLEST = 1e-30

/** Rounds a matrix [O, I], each row to whole multiples of its largest magnitude / 127. Without a gradient. */
export const quantized = (matrix: Tensor, type: CodeType): QuantizedMatrix => {
  const scales = mul(maximum(reduceMax(abs(matrix), [-1]), SMALLEST), 1 / LARGEST)
  const codes = apply1(quantizeOp, [matrix, scales, expand(ZERO_POINTS[type], scales.shape)], {})
  return { codes: transpose(codes, [1, 0]), scales }
}

/** (codes of x - 128) [N, I] times (codes - their zero point) [I, O], each column by its scale. */
const productOp: Op<None> = {
  name: 'quantizedProduct',
  infer: ([x, codes]) => {
    if (x.dim(-1) !== codes.dim(0))
      throw new ShapeError(
        `timesQuantized: ${showShape(x.shape)} times ${showShape(codes.shape)}: inner sizes differ`,
      )
    return [{ dtype: 'float32', shape: [x.dim(0), codes.dim(1)] }]
  },
  emit: ([x, codes, scales]) => ({
    type: 'MatMulIntegerToFloat',
    domain: 'com.microsoft',
    inputs: [x, codes, ONE, scales, ZERO_POINTS.uint8, ZERO_POINTS[codes.dtype as CodeType]],
  }),
}

/** Of each row [N, I] the largest magnitude / LARGEST, [N]; not a number where there is one in the row, which a maximum leaves out. */
const stepsOf = (x: Tensor): Tensor => {
  const magnitudes = abs(x)
  const nothing = reshape(rowSum(magnitudes, 0), [x.dim(0)])
  return mul(add(reduceMax(magnitudes, [-1]), nothing), 1 / LARGEST)
}

/** Steps of the second eight bits in one of the first: what rounding leaves is half a step at most. */
const FINER = 2 * LARGEST

/**
 * x W^T of x [N, I]. Each row of x is rounded to 8 bits by its largest magnitude, and what that leaves to 8 bits more: with the first
 * alone, the larger part of a language model's error is from here. Without a gradient.
 * @throws ShapeError where inner sizes differ
 */
export const timesQuantized = (x: Tensor, { codes, scales }: QuantizedMatrix): Tensor => {
  const [rows, inner] = x.shape
  const step = stepsOf(x)
  const finer = mul(step, 1 / FINER)
  const zero = expand(ZERO_POINTS.uint8, [rows])
  const first = apply1(quantizeOp, [x, step, zero], {})
  const rest = sub(x, apply1(dequantizeOp, [first, step, zero], {}))
  const second = apply1(quantizeOp, [rest, finer, zero], {})
  // Both roundings of a row one below the other, so that adding them up is a product too: the fastest pass over wide rows.
  const both = reshape(concat([first, second], 1), [product([2, rows]), inner])
  const width = codes.dim(1)
  const products = reshape(apply1(productOp, [both, codes, scales], {}), [rows, 2, width])
  const steps = concat(
    [step, finer].map(each => reshape(each, [rows, 1, 1])),
    2,
  )
  return reshape(matmul(steps, products), [rows, width])
}
