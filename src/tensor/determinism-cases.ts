/** @file Every operation at a size of one's choice, to be run again and again: what `gradus bench determinism` runs. */

import { Rng } from '../util/rng.ts'
import type { CheckInput } from './determinism-check.ts'
import * as e from './ops/elementwise.ts'
import { fromPlaces, gather, pick, placeLast, scatterAddRows, toPlaces } from './ops/index-ops.ts'
import { matmul } from './ops/matmul.ts'
import * as nn from './ops/nn.ts'
import { type CodeType, timesQuantized } from './ops/quantized.ts'
import { reduceMax, reduceMean, reduceSum } from './ops/reduce.ts'
import { concat, pad, reshape, slice, split, transpose } from './ops/shape.ts'
import { constant, type Tensor } from './tensor.ts'

/**
 * Rows of 256 numbers. ONNX Runtime divides work by what it estimates it to cost: `small` is below that for every
 * operation that goes through its elements once, `large` and `huge` are well above it, `medium` is where it begins.
 */
export const DETERMINISM_SIZES = { small: 32, medium: 256, large: 1024, huge: 4096 } as const
export type DeterminismSize = keyof typeof DETERMINISM_SIZES

export interface DeterminismCase {
  build: (x: Tensor[]) => Tensor | Tensor[]
  inputs: readonly CheckInput[]
  /** Comparisons and the like have none. */
  withGradient?: boolean
}

/** Random numbers that all cases read, each from another place: making them anew would take longer than the operations. */
let pool: { any: Float32Array; positive: Float32Array } | null = null
const numbers = () => {
  if (pool) return pool
  const rng = new Rng('determinism')
  const any = Float32Array.from({ length: 2 ** 20 + 2 ** 15 }, () => 2 * rng.next() - 1)
  pool = { any, positive: any.map(x => 1 + x / 2) }
  return pool
}

const count = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1)
const view = (from: Float32Array, shape: readonly number[], seed: number): CheckInput => ({
  shape,
  data: from.subarray(seed * 1009, seed * 1009 + count(shape)),
})
const floats = (shape: number[], seed = 0) => view(numbers().any, shape, seed)
const positive = (shape: number[], seed = 0) => view(numbers().positive, shape, seed)
/** Whole numbers from 0 to below `limit`. */
const wholes = (shape: number[], limit: number, seed: number) =>
  Array.from(floats(shape, seed).data as Float32Array, x => Math.floor(((x + 1) / 2) * limit))
const ids = (shape: number[], limit: number, seed = 0): CheckInput => ({
  shape,
  data: BigInt64Array.from(wholes(shape, limit, seed), BigInt),
  dtype: 'int64',
})
const segments = (shape: number[], limit: number, seed = 0): CheckInput => ({
  shape,
  data: Int32Array.from(wholes(shape, limit, seed)),
  dtype: 'int32',
})

const unary = (op: (x: Tensor) => Tensor, x: CheckInput): DeterminismCase => ({
  build: ([a]) => op(a),
  inputs: [x],
})
const product = (a: number[], b: number[], options: Parameters<typeof matmul>[2] = {}): DeterminismCase => ({
  build: ([x, y]) => matmul(x, y, options),
  inputs: [floats(a), floats(b, 5)],
})

/** Cosines and sines of 512 positions for heads of 64. */
const angles = () => {
  const table = (f: (x: number) => number) =>
    constant(
      Float32Array.from({ length: 512 * 32 }, (_, i) => f(i % 977)),
      [512, 32],
    )
  return { cos: table(Math.cos), sin: table(Math.sin) }
}

/** Two operands of one shape, and one that is spread over the other. */
const binary = (rows: number, op: (a: Tensor, b: Tensor) => Tensor): DeterminismCase => ({
  build: ([a, b, row, column]) => [op(a, b), op(a, row), op(a, column)],
  inputs: [floats([rows, 256]), positive([rows, 256], 1), positive([256], 2), positive([rows, 1], 3)],
})

const ofTwo = (rows: number): Record<string, DeterminismCase> => {
  const pair = (op: (a: Tensor, b: Tensor) => Tensor) => binary(rows, op)
  const comparison = (op: (a: Tensor, b: Tensor) => Tensor) => ({ ...pair(op), withGradient: false })
  return {
    add: pair(e.add),
    'add/whole numbers': {
      build: ([a, b]) => [e.add(a, b), e.mul(a, b), e.sub(a, b)],
      inputs: [ids([rows, 256], 999), ids([rows, 256], 99, 1)],
      withGradient: false,
    },
    sub: pair(e.sub),
    mul: pair(e.mul),
    div: pair(e.div),
    maximum: pair(e.maximum),
    minimum: pair(e.minimum),
    less: comparison(e.less),
    lessOrEqual: comparison(e.lessOrEqual),
    greater: comparison(e.greater),
    greaterOrEqual: comparison(e.greaterOrEqual),
    'greaterOrEqual/whole numbers': {
      build: ([a, b]) => e.greaterOrEqual(a, b),
      inputs: [segments([rows, 1], 99), segments([1, 256], 99, 1)],
      withGradient: false,
    },
    'less/sums of whole numbers': {
      build: ([a, b]) => e.less(a, e.add(b, constant(Int32Array.of(3), [], 'int32'))),
      inputs: [segments([rows, 1], 99), segments([1, 256], 99, 1)],
      withGradient: false,
    },
    equal: comparison(e.equal),
    'equal/whole numbers': {
      build: ([a, b, c]) => [e.equal(a, b), e.equal(c, c)],
      inputs: [segments([rows, 256], 3), segments([rows, 256], 3, 1), ids([rows, 256], 3)],
      withGradient: false,
    },
    logicalAnd: comparison((a, b) => e.logicalAnd(e.less(a, b), e.greater(b, 1))),
  }
}

const ofOne = (rows: number): Record<string, DeterminismCase> => {
  const x = floats([rows, 256])
  const above = positive([rows, 256])
  return {
    neg: unary(e.neg, x),
    exp: unary(e.exp, x),
    log: unary(e.log, above),
    sqrt: unary(e.sqrt, above),
    reciprocal: unary(e.reciprocal, above),
    abs: unary(e.abs, x),
    sign: { ...unary(e.sign, x), withGradient: false },
    tanh: unary(e.tanh, x),
    sigmoid: unary(e.sigmoid, x),
    square: unary(e.square, x),
    silu: unary(e.silu, x),
    gelu: unary(e.gelu, x),
    clamp: unary(a => e.clamp(a, -0.25, 0.25), x),
    cast: unary(a => e.mul(e.toFloat(e.cast(e.mul(a, 9), 'int32')), a), x),
    'cast/whole numbers': {
      build: ([a, b]) => [e.toFloat(a), e.toFloat(b), e.cast(a, 'int32'), e.cast(a, 'bool')],
      inputs: [ids([rows, 256], 3), segments([rows, 256], 3)],
      withGradient: false,
    },
    toFloat: unary(a => e.mul(e.toFloat(e.greater(a, 0)), a), x),
    where: {
      build: ([a, b, row]) => [e.where(e.greater(a, 0), a, b), e.where(e.greater(a, 0), row, b)],
      inputs: [x, floats([rows, 256], 1), floats([256], 2)],
    },
    'where/two numbers': unary(a => e.mul(e.where(e.greater(a, 0), 0, -1e9), a), x),
    expand: {
      build: ([row, column]) => [e.expand(row, [rows, 256]), e.expand(column, [rows, 256])],
      inputs: [floats([256]), floats([rows, 1], 1)],
    },
    'expand/whole numbers': {
      build: ([column]) => e.expand(column, [rows, 256]),
      inputs: [ids([rows, 1], 999)],
      withGradient: false,
    },
    sumTo: unary(a => e.sumTo(reshape(a, [4, rows / 4, 256]), [rows / 4, 1]), x),
    zerosLike: { ...unary(e.zerosLike, x), withGradient: false },
  }
}

/** Rows in every other of twice as many places: which row lies where, the place of each, and which are taken. */
const everyOtherPlace = (rows: number): CheckInput[] => {
  const int64 = (values: number[]): CheckInput => ({
    shape: [values.length],
    data: BigInt64Array.from(values, BigInt),
    dtype: 'int64',
  })
  const row = Array.from({ length: rows }, (_, i) => i)
  return [
    int64(row.flatMap(i => [i, 0])),
    int64(row.map(i => 2 * i)),
    { shape: [2 * rows, 1], data: Float32Array.from(row.flatMap(() => [1, 0])) },
  ]
}

const indexed = (rows: number): Record<string, DeterminismCase> => {
  const few = ids([2 * rows], 4)
  const many = ids([2 * rows], 4096)
  return {
    'gather/few places': { build: ([table, at]) => gather(table, at), inputs: [floats([8, 128]), few] },
    'gather/many places': { build: ([table, at]) => gather(table, at), inputs: [floats([4096, 128]), many] },
    'gather/two axes of ids': {
      build: ([table, at]) => gather(table, at),
      inputs: [floats([8, 16, 8]), ids([rows / 32, 64], 8)],
    },
    toPlaces: {
      build: ([x, rowAt, placeOf, taken]) => e.mul(toPlaces(x, { rowAt, placeOf, taken }), taken),
      inputs: [floats([4, rows, 64]), ...everyOtherPlace(rows)],
    },
    fromPlaces: {
      build: ([x, rowAt, placeOf, taken]) => fromPlaces(x, { rowAt, placeOf, taken }),
      inputs: [floats([4, 2 * rows, 64]), ...everyOtherPlace(rows)],
    },
    'scatterAddRows/four places': {
      build: ([table, at, added]) => scatterAddRows(table, at, added),
      inputs: [floats([8, 128]), few, floats([2 * rows, 128], 1)],
    },
    'scatterAddRows/many places': {
      build: ([table, at, added]) => scatterAddRows(table, at, added),
      inputs: [floats([4096, 128]), many, floats([2 * rows, 128], 1)],
    },
    pick: { build: ([x, at]) => pick(x, at), inputs: [floats([rows, 256]), ids([rows, 64], 4)] },
    placeLast: {
      build: ([x, at, values]) => placeLast(x, at, values),
      inputs: [floats([rows, 256]), ids([rows, 64], 4), floats([rows, 64], 1)],
    },
  }
}

/** Signed codes up to 63: no sum of two of their products needs more than 16 bits, so they are exact on all processors. */
const CODES = {
  int8: (shape: number[]) => Int8Array.from(wholes(shape, 127, 3), x => x - 63),
  uint8: (shape: number[]) => Uint8Array.from(wholes(shape, 255, 3), x => x + 1),
}

const quantizedProduct = (rows: number, type: CodeType): DeterminismCase => ({
  build: ([x]) =>
    timesQuantized(x, {
      codes: constant(CODES[type]([256, 512]), [256, 512], type),
      scales: constant(positive([512], 4).data as Float32Array, [512]),
    }),
  inputs: [floats([rows, 256])],
  withGradient: false,
})

const products = (rows: number): Record<string, DeterminismCase> => ({
  timesQuantized: quantizedProduct(rows, 'int8'),
  'timesQuantized/unsigned': quantizedProduct(rows, 'uint8'),
  matmul: product([rows, 256], [256, 512]),
  'matmul/a transposed': product([256, rows], [256, 512], { transposeA: true }),
  'matmul/b transposed': product([rows, 256], [512, 256], { transposeB: true, alpha: 0.5 }),
  'matmul/both transposed': product([256, rows], [512, 256], { transposeA: true, transposeB: true }),
  'matmul/odd sizes': product([rows - 3, 253], [253, 509]),
  'matmul/with a bias': {
    build: ([x, y, bias]) => e.add(matmul(x, y), bias),
    inputs: [floats([rows, 256]), floats([256, 64], 5), floats([64], 7)],
  },
  'matmul/long inner axis': product([16, 16 * rows], [16 * rows, 16]),
  'matmul/long inner axis, a transposed': product([16 * rows, 16], [16 * rows, 16], { transposeA: true }),
  'matmul/one row': product([1, rows], [rows, 256]),
  'matmul/one row, b transposed': product([1, rows], [256, rows], { transposeB: true }),
  'matmul/one column': product([4 * rows, 64], [64, 1]),
  'matmul/one column, odd rows': product([2 * rows - 25, 128], [128, 1]),
  'matmul/one element': product([1, 256 * rows], [256 * rows, 1]),
  'matmul/batches': product([4, rows / 32, 32, 64], [4, rows / 32, 64, 32]),
  'matmul/shared by batches': product([4, 4, rows / 16, 64], [4, 1, rows / 16, 64], { transposeB: true }),
  'matmul/batch against one matrix': product([8, rows / 8, 256], [256, 256]),
})

const reductions = (rows: number): Record<string, DeterminismCase> => {
  const x = floats([rows, 256])
  const half = rows * 128
  return {
    'reduceSum/all': unary(a => reduceSum(a), x),
    'reduceSum/first axis': unary(a => reduceSum(a, [0]), x),
    'reduceSum/last axis': unary(a => reduceSum(a, [1]), x),
    'reduceSum/few long rows': unary(a => reduceSum(reshape(a, [2, half]), [1]), x),
    'reduceSum/few long columns': unary(a => reduceSum(reshape(a, [half, 2]), [0]), x),
    'reduceSum/middle axis': unary(
      a => reduceSum(reshape(a, [4, rows / 4, 256]), [1], { keepDims: true }),
      x,
    ),
    'reduceSum/outer axes': unary(a => reduceSum(reshape(a, [4, rows / 4, 256]), [0, 2]), x),
    'reduceMax/first axis': unary(a => reduceMax(a, [0]), x),
    'reduceMax/last axis': unary(a => reduceMax(a, [1]), x),
    'reduceMax/all': unary(a => reduceMax(a), x),
    reduceMean: unary(a => e.add(reduceMean(a), reduceMean(a, [0])), x),
    rowSum: unary(a => nn.rowSum(a, 0.5), x),
    softmax: unary(nn.softmax, x),
    'softmax/few long rows': unary(a => nn.softmax(reshape(a, [2, half])), x),
    logSoftmax: unary(nn.logSoftmax, x),
  }
}

const moves = (rows: number): Record<string, DeterminismCase> => {
  const x = floats([rows, 256])
  return {
    reshape: unary(a => reshape(a, [rows / 2, 512]), x),
    transpose: unary(a => transpose(reshape(a, [4, rows / 4, 256]), [2, 0, 1]), x),
    'transpose/heads first': unary(a => transpose(reshape(a, [rows, 4, 64]), [1, 0, 2]), x),
    'transpose/last two': unary(a => transpose(reshape(a, [4, rows / 4, 256]), [0, 2, 1]), x),
    slice: unary(a => slice(a, 0, 5, rows - 7), x),
    'slice/last axis': unary(a => slice(a, 1, 5, 250), x),
    pad: unary(a => pad(a, 1, 3, 5), x),
    'pad/first axis': unary(a => pad(a, 0, 3, 5), x),
    split: { build: ([a]) => split(a, 0, [rows / 4, (3 * rows) / 4]), inputs: [x] },
    'split/last axis': { build: ([a]) => split(a, 1, [100, 156]), inputs: [x] },
    concat: {
      build: ([a, b]) => [concat([a, b], 0), concat([a, b], 1)],
      inputs: [x, floats([rows, 256], 1)],
    },
    'reshape/whole numbers': {
      build: ([a, b]) => [
        reshape(a, [256, rows]),
        ...split(a, 0, [rows / 2, rows / 2]),
        ...split(b, 0, [rows / 2, rows / 2]),
        reshape(b, [256, rows]),
      ],
      inputs: [ids([rows, 256], 9), segments([rows, 256], 9)],
      withGradient: false,
    },
  }
}

const layers = (rows: number): Record<string, DeterminismCase> => {
  const long = rows / 8
  const causal = Float32Array.from({ length: long * long }, (_, at) =>
    at % long > Math.floor(at / long) ? -1e9 : 0,
  )
  const scored = (chunk?: number): DeterminismCase => ({
    build: ([hidden, table, targets]) => Object.values(nn.tokenLogProbs(hidden, table, targets, { chunk })),
    inputs: [floats([rows, 64]), floats([512, 64], 1), ids([rows], 4)],
  })
  return {
    rmsNorm: {
      build: ([x, weight]) => nn.rmsNorm(x, weight, 1e-5),
      inputs: [floats([rows, 256]), positive([256], 1)],
    },
    rotary: {
      build: ([x, positions]) => nn.rotary(x, positions, angles()),
      inputs: [floats([rows, 256]), ids([rows], 512, 1)],
    },
    rotaryHeads: {
      build: ([x, positions]) => nn.rotaryHeads(x, positions, angles()),
      inputs: [floats([rows, 4, 64]), ids([rows, 4], 512, 1)],
    },
    attention: {
      build: ([q, keys, values]) =>
        nn.attention(q, [{ keys, values, mask: constant(causal, [long, long]), queryShape: q.shape }], 0.1),
      inputs: [floats([4, 2, long, 64]), floats([4, 1, long, 64], 1), floats([4, 1, long, 64], 2)],
    },
    'attention/a shared prompt': {
      build: ([q, keys, values, promptKeys, promptValues, mask]) =>
        nn.attention(
          q,
          [
            { keys: promptKeys, values: promptValues, mask, queryShape: q.shape },
            { keys, values, mask: constant(causal, [long, long]), queryShape: q.shape },
          ],
          0.1,
        ),
      inputs: [
        floats([4, 2, long, 64]),
        floats([4, 1, long, 64], 1),
        floats([4, 1, long, 64], 2),
        floats([4, 1, 24, 64], 3),
        floats([4, 1, 24, 64], 4),
        { ...floats([1, 24], 5), fixed: true },
      ],
    },
    tokenLogProbs: scored(),
    'tokenLogProbs/streamed': scored(256),
    'tokenLogProbs/fixed table': {
      build: ([hidden, table, targets]) => [
        nn.tokenLogProbs(hidden, table, targets, { chunk: 256, fixedTable: true }).logprobs,
      ],
      inputs: [floats([rows, 64]), { ...floats([512, 64], 1), fixed: true }, ids([rows], 4)],
    },
  }
}

/** All cases with so many rows (a multiple of 32), by the operation's name; several of one are distinguished after the slash. */
export const determinismCases = (rows: number): Record<string, DeterminismCase> => ({
  ...ofTwo(rows),
  ...ofOne(rows),
  ...indexed(rows),
  ...products(rows),
  ...reductions(rows),
  ...moves(rows),
  ...layers(rows),
})
