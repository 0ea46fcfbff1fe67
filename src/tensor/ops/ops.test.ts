import { describe, expect, it } from 'vitest'
import { ShapeError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { type CheckInput, graphOf } from '../determinism-check.ts'
import { Executable } from '../executable.ts'
import { checkGradients, type GradientCheckOptions } from '../gradient-check.fixture.ts'
import { gradients } from '../gradients.ts'
import { toOnnx } from '../onnx.ts'
import { TEST_PROVIDER } from '../provider.fixture.ts'
import { constant, input, scalar, stopGradient, type Tensor } from '../tensor.ts'
import * as elementwise from './elementwise.ts'
import * as indexOps from './index-ops.ts'
import * as matmulOps from './matmul.ts'
import * as nn from './nn.ts'
import * as quantizedOps from './quantized.ts'
import * as reduceOps from './reduce.ts'
import * as shapeOps from './shape.ts'

const e = elementwise
const { fromPlaces, gather, scatterAddRows, pick, placeLast, toPlaces } = indexOps
const { reduceSum, reduceMax, reduceMean } = reduceOps
const { reshape, transpose, slice, pad, split, concat } = shapeOps
const { matmul } = matmulOps

const compile = (outputs: Record<string, Tensor>) => Executable.compile(outputs, { provider: TEST_PROVIDER })

const size = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1)

/** Random numbers in [low, high). */
const floats = (shape: number[], low = -1, high = 1, seed = 1): CheckInput => {
  const rng = new Rng(`${seed}/${shape}`)
  return { shape, data: Float32Array.from({ length: size(shape) }, () => low + (high - low) * rng.next()) }
}
/** Distinct numbers far enough from each other and from 0 that no difference scheme crosses a kink. */
const spread = (shape: number[], seed = 1): CheckInput => {
  const order = new Rng(seed).shuffle(Array.from({ length: size(shape) }, (_, i) => i))
  return { shape, data: Float32Array.from(order, i => (i - size(shape) / 2 + 0.5) * 0.13) }
}
const ids = (shape: number[], ...values: number[]): CheckInput => ({
  shape,
  data: BigInt64Array.from(values, BigInt),
  dtype: 'int64',
})

type Numbers = ArrayLike<number>

interface Case {
  build: (x: Tensor[]) => Tensor | Tensor[]
  inputs: () => CheckInput[]
  /** Outputs in plain arithmetic, one array an output. */
  reference: (...inputs: Numbers[]) => Numbers[]
}

const map = (f: (x: number) => number) => (x: Numbers) => [Array.from(x, f)]
const unary = (op: (x: Tensor) => Tensor, f: (x: number) => number, values = () => floats([2, 3])): Case => ({
  build: ([x]) => op(x),
  inputs: () => [values()],
  reference: map(f),
})
/** [2, 3] with [3]: one side is broadcast, so its gradient is a sum. */
const binary = (
  op: (a: Tensor, b: Tensor) => Tensor,
  f: (a: number, b: number) => number,
  values = () => [spread([2, 3]), floats([3], 0.5, 1.5, 5)],
): Case => ({
  build: ([a, b]) => op(a, b),
  inputs: values,
  reference: (a, b) => [Array.from(a, (x, i) => f(x, b[i % b.length]))],
})
const positive = () => floats([2, 3], 0.5, 2)
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x))

/** a [m, k] times b [k, n]. */
const product = (a: Numbers, b: Numbers, m: number, k: number, n: number): number[] =>
  Array.from({ length: m * n }, (_, at) => {
    const [i, j] = [Math.floor(at / n), at % n]
    let sum = 0
    for (let l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j]
    return sum
  })
/** x [columns, rows] as [rows, columns]. */
const transposed = (x: Numbers, rows: number, columns: number): number[] =>
  Array.from({ length: rows * columns }, (_, at) => x[(at % columns) * rows + Math.floor(at / columns)])
const rowsOf = (x: Numbers, width: number): number[][] =>
  Array.from({ length: x.length / width }, (_, i) =>
    Array.from({ length: width }, (_, j) => x[i * width + j]),
  )
const softmaxRow = (row: Numbers): number[] => {
  const values = Array.from(row, x => Math.exp(x - Math.max(...Array.from(row))))
  const total = values.reduce((a, b) => a + b, 0)
  return values.map(x => x / total)
}
const rmsNormRows = (x: Numbers, weight: Numbers, epsilon: number): number[] =>
  rowsOf(x, weight.length).flatMap(row => {
    const meanSquare = row.reduce((sum, value) => sum + value * value, 0) / row.length
    return row.map((value, i) => (value / Math.sqrt(meanSquare + epsilon)) * weight[i])
  })

/** Which row lies in each place, the place of each row, and which places are taken. */
const FIVE_PLACES = () => [
  ids([5], 1, 2, 0, 0, 0),
  ids([3], 3, 0, 1),
  { shape: [5, 1], data: Float32Array.of(1, 1, 0, 1, 0) },
]

/** Every exported operation that has a gradient; several cases of one operation are distinguished after the slash. */
const CASES: Record<string, Case> = {
  add: binary(e.add, (a, b) => a + b),
  sub: binary(e.sub, (a, b) => a - b),
  mul: binary(e.mul, (a, b) => a * b),
  'mul/middle axis': {
    build: ([a, b]) => e.mul(a, b),
    inputs: () => [floats([2, 1, 3]), floats([2, 2, 1])],
    reference: (a, b) => [
      [0, 1].flatMap(i => [0, 1].flatMap(j => [0, 1, 2].map(k => a[i * 3 + k] * b[i * 2 + j]))),
    ],
  },
  'mul/number': unary(
    x => e.mul(3, x),
    x => 3 * x,
  ),
  div: binary(e.div, (a, b) => a / b),
  maximum: binary(e.maximum, Math.max, () => [
    spread([2, 3]),
    { shape: [3], data: Float32Array.of(-5, 0, 5) },
  ]),
  minimum: binary(e.minimum, Math.min, () => [
    spread([2, 3]),
    { shape: [3], data: Float32Array.of(-5, 0, 5) },
  ]),
  neg: unary(e.neg, x => -x),
  exp: unary(e.exp, Math.exp),
  log: unary(e.log, Math.log, positive),
  sqrt: unary(e.sqrt, Math.sqrt, positive),
  reciprocal: unary(e.reciprocal, x => 1 / x, positive),
  abs: unary(e.abs, Math.abs, () => spread([2, 3])),
  tanh: unary(e.tanh, Math.tanh),
  sigmoid: unary(e.sigmoid, sigmoid),
  square: unary(e.square, x => x * x),
  silu: unary(
    e.silu,
    x => x * sigmoid(x),
    () => floats([2, 5], -4, 4),
  ),
  gelu: unary(
    e.gelu,
    x => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
    () => floats([2, 5], -4, 4),
  ),
  clamp: unary(
    x => e.clamp(x, -0.25, 0.25),
    x => Math.min(0.25, Math.max(-0.25, x)),
    () => spread([2, 4]),
  ),
  // Whole numbers are constant between their steps: only the other factor passes a gradient.
  cast: unary(
    x => e.mul(e.toFloat(e.cast(x, 'int32')), x),
    x => Math.trunc(x) * x,
    () => ({ shape: [3], data: Float32Array.of(1.5, -2.5, 3.3) }),
  ),
  toFloat: unary(
    x => e.mul(e.toFloat(e.greater(x, 0)), x),
    x => Math.max(0, x),
    () => spread([2, 3]),
  ),
  where: {
    build: ([condition, a, b]) => e.where(condition, a, b),
    inputs: () => [
      { shape: [2, 3], data: Uint8Array.of(1, 0, 0, 1, 1, 0), dtype: 'bool' },
      floats([3]),
      floats([2, 1]),
    ],
    reference: (c, a, b) => [Array.from(c, (yes, i) => (yes ? a[i % 3] : b[Math.floor(i / 3)]))],
  },
  expand: {
    build: ([x]) => e.expand(x, [2, 3, 2]),
    inputs: () => [floats([3, 1])],
    reference: x => [[0, 1].flatMap(() => [0, 1, 2].flatMap(i => [x[i], x[i]]))],
  },
  sumTo: {
    build: ([x]) => e.sumTo(x, [3, 1]),
    inputs: () => [floats([2, 3, 2])],
    reference: x => [
      [0, 1, 2].map(i => [0, 1].reduce((s, b) => s + x[b * 6 + i * 2] + x[b * 6 + i * 2 + 1], 0)),
    ],
  },
  gather: {
    build: ([table, at]) => gather(table, at),
    inputs: () => [floats([4, 3]), ids([2, 2], 3, 0, 3, 1)],
    reference: (table, at) => [Array.from(at, Number).flatMap(i => rowsOf(table, 3)[i])],
  },
  scatterAddRows: {
    build: ([table, at, rows]) => scatterAddRows(table, at, rows),
    inputs: () => [floats([4, 3]), ids([3], 2, 0, 2), floats([3, 3], -1, 1, 7)],
    reference: (table, at, rows) => {
      const out = Array.from(table)
      Array.from(at, Number).forEach((row, i) => {
        for (let j = 0; j < 3; j++) out[row * 3 + j] += rows[i * 3 + j]
      })
      return [out]
    },
  },
  // Rows 0, 1, 2 lie in places 3, 0, 1 of five; what is in an empty place counts for nothing.
  toPlaces: {
    build: ([x, rowAt, placeOf, taken]) => e.mul(toPlaces(x, { rowAt, placeOf, taken }), taken),
    inputs: () => [floats([2, 3, 2]), ...FIVE_PLACES()],
    reference: x => [
      [0, 1].flatMap(b =>
        [1, 2, null, 0, null].flatMap(row => [0, 1].map(j => (row === null ? 0 : x[b * 6 + row * 2 + j]))),
      ),
    ],
  },
  fromPlaces: {
    build: ([x, rowAt, placeOf, taken]) => fromPlaces(x, { rowAt, placeOf, taken }),
    inputs: () => [floats([2, 5, 2]), ...FIVE_PLACES()],
    reference: x => [
      [0, 1].flatMap(b => [3, 0, 1].flatMap(place => [0, 1].map(j => x[b * 10 + place * 2 + j]))),
    ],
  },
  pick: {
    build: ([x, at]) => pick(x, at),
    inputs: () => [floats([3, 4]), ids([3, 2], 0, 3, 2, 2, 1, 0)],
    reference: (x, at) => [Array.from(at, (j, i) => x[Math.floor(i / 2) * 4 + Number(j)])],
  },
  placeLast: {
    build: ([x, at, values]) => placeLast(x, at, values),
    inputs: () => [floats([2, 4]), ids([2, 2], 3, 3, 0, 1), floats([2, 2], -1, 1, 3)],
    reference: (x, at, values) => {
      const out = Array.from(x)
      Array.from(at, Number).forEach((j, i) => {
        out[Math.floor(i / 2) * 4 + j] += values[i]
      })
      return [out]
    },
  },
  matmul: {
    build: ([a, b]) => matmul(a, b),
    inputs: () => [floats([2, 3]), floats([3, 4])],
    reference: (a, b) => [product(a, b, 2, 3, 4)],
  },
  'matmul/a transposed, scaled': {
    build: ([a, b]) => matmul(a, b, { transposeA: true, alpha: 0.5 }),
    inputs: () => [floats([3, 2]), floats([3, 4])],
    reference: (a, b) => [product(transposed(a, 2, 3), b, 2, 3, 4).map(x => x / 2)],
  },
  'matmul/b transposed': {
    build: ([a, b]) => matmul(a, b, { transposeB: true }),
    inputs: () => [floats([2, 3]), floats([4, 3])],
    reference: (a, b) => [product(a, transposed(b, 3, 4), 2, 3, 4)],
  },
  'matmul/both transposed': {
    build: ([a, b]) => matmul(a, b, { transposeA: true, transposeB: true, alpha: 2 }),
    inputs: () => [floats([3, 2]), floats([4, 3])],
    reference: (a, b) => [product(transposed(a, 2, 3), transposed(b, 3, 4), 2, 3, 4).map(x => 2 * x)],
  },
  'matmul/batch against one matrix': {
    build: ([a, b]) => matmul(a, b, { transposeB: true }),
    inputs: () => [floats([2, 2, 3]), floats([4, 3])],
    reference: (a, b) => [product(a, transposed(b, 3, 4), 4, 3, 4)],
  },
  'matmul/batch against one matrix, a transposed': {
    build: ([a, b]) => matmul(a, b, { transposeA: true }),
    inputs: () => [floats([2, 3, 2]), floats([3, 4])],
    reference: (a, b) => [
      [0, 1].flatMap(i => product(transposed(Array.from(a).slice(6 * i, 6 * i + 6), 2, 3), b, 2, 3, 4)),
    ],
  },
  'matmul/broadcast batches': {
    build: ([a, b]) => matmul(a, b),
    inputs: () => [floats([2, 1, 2, 3]), floats([3, 3, 2])],
    reference: (a, b) => [
      [0, 1].flatMap(i =>
        [0, 1, 2].flatMap(j =>
          product(Array.from(a).slice(6 * i, 6 * i + 6), Array.from(b).slice(6 * j, 6 * j + 6), 2, 3, 2),
        ),
      ),
    ],
  },
  reduceSum: {
    build: ([x]) => [reduceSum(x, [1]), reduceSum(x, [0, -1], { keepDims: true }), reduceSum(x)],
    inputs: () => [floats([2, 3])],
    reference: x => {
      const rows = rowsOf(x, 3).map(row => row.reduce((a, b) => a + b, 0))
      return [rows, [rows[0] + rows[1]], [rows[0] + rows[1]]]
    },
  },
  reduceMax: {
    build: ([x]) => [reduceMax(x, [-1]), reduceMax(x, [0], { keepDims: true })],
    inputs: () => [spread([3, 4])],
    reference: x => [
      rowsOf(x, 4).map(row => Math.max(...row)),
      [0, 1, 2, 3].map(j => Math.max(...rowsOf(x, 4).map(row => row[j]))),
    ],
  },
  reduceMean: {
    build: ([x]) => [reduceMean(x), reduceMean(x, [0])],
    inputs: () => [floats([2, 3])],
    reference: x => [
      [Array.from(x).reduce((a, b) => a + b, 0) / 6],
      [0, 1, 2].map(j => (x[j] + x[3 + j]) / 2),
    ],
  },
  reshape: { build: ([x]) => reshape(x, [3, 2]), inputs: () => [floats([2, 3])], reference: x => [x] },
  transpose: {
    build: ([x]) => transpose(x, [2, 0, 1]),
    inputs: () => [floats([2, 3, 2])],
    reference: x => [[0, 1].flatMap(k => [0, 1].flatMap(i => [0, 1, 2].map(j => x[i * 6 + j * 2 + k])))],
  },
  slice: {
    build: ([x]) => slice(x, 1, 1, 3),
    inputs: () => [floats([2, 4])],
    reference: x => [rowsOf(x, 4).flatMap(row => row.slice(1, 3))],
  },
  pad: {
    build: ([x]) => pad(x, -1, 1, 2),
    inputs: () => [floats([2, 2])],
    reference: x => [rowsOf(x, 2).flatMap(row => [0, ...row, 0, 0])],
  },
  split: {
    build: ([x]) => split(x, 1, [1, 3]),
    inputs: () => [floats([2, 4])],
    reference: x => [rowsOf(x, 4).map(row => row[0]), rowsOf(x, 4).flatMap(row => row.slice(1))],
  },
  'split/one part unused': {
    build: ([x]) => split(x, 0, [1, 2])[1],
    inputs: () => [floats([3, 2])],
    reference: x => [Array.from(x).slice(2)],
  },
  'concat/along the first axis': {
    build: ([a]) => [
      concat(
        [
          a,
          concat([constant(Float32Array.of(1, 2), [1, 2]), constant(Float32Array.of(3, 4, 5, 6), [2, 2])], 0),
        ],
        0,
      ),
    ],
    inputs: () => [floats([1, 2])],
    reference: a => [[...Array.from(a), 1, 2, 3, 4, 5, 6]],
  },
  concat: {
    build: ([a, b]) => concat([a, b, a], 1),
    inputs: () => [floats([2, 2]), floats([2, 1])],
    reference: (a, b) => [[0, 1].flatMap(i => [...rowsOf(a, 2)[i], b[i], ...rowsOf(a, 2)[i]])],
  },
  rowSum: {
    build: ([x]) => nn.rowSum(x, 0.5),
    inputs: () => [floats([2, 3])],
    reference: x => [rowsOf(x, 3).map(row => row.reduce((a, b) => a + b, 0) / 2)],
  },
  softmax: {
    build: ([x]) => nn.softmax(x),
    inputs: () => [floats([2, 4], -2, 2)],
    reference: x => [rowsOf(x, 4).flatMap(softmaxRow)],
  },
  logSoftmax: {
    build: ([x]) => nn.logSoftmax(x),
    inputs: () => [floats([2, 4], -2, 2)],
    reference: x => [rowsOf(x, 4).flatMap(softmaxRow).map(Math.log)],
  },
  rmsNorm: {
    build: ([x, weight]) => nn.rmsNorm(x, weight, 1e-3),
    inputs: () => [floats([2, 3, 4], 0.3, 1.5), floats([4], 0.5, 1.5)],
    reference: (x, weight) => [rmsNormRows(x, weight, 1e-3)],
  },
  rotary: {
    build: ([x, positions]) => nn.rotary(x, positions, ANGLES),
    inputs: () => [floats([3, 8]), ids([3], 4, 0, 2)],
    reference: (x, positions) => [
      rowsOf(x, 8).flatMap((row, token) =>
        [0, 1].flatMap(head => rotated(row, head * 4, Number(positions[token]))),
      ),
    ],
  },
  rotaryHeads: {
    build: ([x, positions]) => nn.rotaryHeads(x, positions, ANGLES),
    inputs: () => [floats([2, 3, 4]), ids([2, 3], 3, 0, 2, 1, 0, 3)],
    reference: (x, positions) => [
      rowsOf(x, 4).flatMap((row, head) => rotated(row, 0, Number(positions[head]))),
    ],
  },
  attention: {
    build: ([q, keys, values]) =>
      nn.attention(q, [{ keys, values, mask: constant(CAUSAL, [3, 3]), queryShape: q.shape }], 0.7),
    inputs: () => [floats([2, 3, 4], -1, 1, 1), floats([2, 3, 4], -1, 1, 2), floats([2, 3, 4], -1, 1, 3)],
    reference: (q, k, v) => [[0, 1].flatMap(head => attended(head, q, k, v, 0.7))],
  },
  tokenLogProbs: {
    build: ([hidden, table, targets]) => Object.values(nn.tokenLogProbs(hidden, table, targets)),
    inputs: () => [floats([3, 4]), floats([7, 4], -1, 1, 2), ids([3], 6, 0, 3)],
    reference: logProbsAndEntropy,
  },
  'tokenLogProbs/streamed': {
    build: ([hidden, table, targets]) =>
      Object.values(nn.tokenLogProbs(hidden, table, targets, { chunk: 3 })),
    inputs: () => [floats([3, 4]), floats([7, 4], -1, 1, 2), ids([3], 6, 0, 3)],
    reference: logProbsAndEntropy,
  },
}

/** Angles of positions 0..4 for heads of 4. */
const ANGLES = (() => {
  const angle = (i: number) => Math.floor(i / 2) * (i % 2 ? 0.1 : 1)
  const table = (f: (x: number) => number) =>
    constant(
      Float32Array.from({ length: 10 }, (_, i) => f(angle(i))),
      [5, 2],
    )
  return { cos: table(Math.cos), sin: table(Math.sin) }
})()

const rotated = (row: number[], from: number, position: number): number[] => {
  const pairs = [0, 1].map(i => {
    const angle = position * (i ? 0.1 : 1)
    const [a, b] = [row[from + i], row[from + 2 + i]]
    return [a * Math.cos(angle) - b * Math.sin(angle), b * Math.cos(angle) + a * Math.sin(angle)]
  })
  return [pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1]]
}

const CAUSAL = Float32Array.of(0, -1e9, -1e9, 0, 0, -1e9, 0, 0, 0)

function attended(head: number, q: Numbers, k: Numbers, v: Numbers, scale: number): number[] {
  const [queries, keys, values] = [q, k, v].map(x => rowsOf(x, 4).slice(head * 3, head * 3 + 3))
  return queries.flatMap((query, t) => {
    const weights = softmaxRow(
      keys.slice(0, t + 1).map(key => scale * key.reduce((sum, x, i) => sum + x * query[i], 0)),
    )
    return [0, 1, 2, 3].map(i => weights.reduce((sum, w, s) => sum + w * values[s][i], 0))
  })
}

function logProbsAndEntropy(hidden: Numbers, table: Numbers, targets: Numbers): number[][] {
  const p = rowsOf(hidden, 4).map(h =>
    softmaxRow(rowsOf(table, 4).map(w => w.reduce((s, x, i) => s + x * h[i], 0))),
  )
  return [
    p.map((row, n) => Math.log(row[Number(targets[n])])),
    p.map(row => -row.reduce((sum, x) => sum + x * Math.log(x), 0)),
  ]
}

/** Exported functions without a gradient of their own: comparisons, and constants. */
const WITHOUT = [
  'less',
  'lessOrEqual',
  'greater',
  'greaterOrEqual',
  'equal',
  'logicalAnd',
  'quantized',
  'timesQuantized',
  'sign',
  'zerosLike',
]

describe('operations', () => {
  it('all have a gradient case or are known to have no gradient', () => {
    const modules = [elementwise, indexOps, matmulOps, nn, quantizedOps, reduceOps, shapeOps]
    const exported = modules.flatMap(module =>
      Object.entries(module).flatMap(([name, value]) => (typeof value === 'function' ? [name] : [])),
    )
    const covered = new Set([...Object.keys(CASES).map(name => name.split('/')[0]), ...WITHOUT])
    expect(exported.filter(name => !covered.has(name))).toEqual([])
    expect([...covered].filter(name => !exported.includes(name))).toEqual([])
  })

  const check = async (test: Case, options: GradientCheckOptions) => {
    const inputs = test.inputs()
    const { outputs, worst, where, checked } = await checkGradients(test.build, inputs, options)
    const plain = inputs.map(({ data }) => Array.from(data as Float32Array, Number))
    const expected = test.reference(...plain)
    expect(outputs.length).toBe(expected.length)
    outputs.forEach(({ data }, i) => {
      expect(data.length).toBe(expected[i].length)
      for (let at = 0; at < data.length; at++) expect(data[at]).toBeCloseTo(expected[i][at], 5)
    })
    expect(worst, where).toBeLessThan(1e-3)
    expect(checked).toBeGreaterThan(0)
  }

  it.each(Object.entries(CASES))('%s: values as in plain arithmetic, gradient as by differences', (_, test) =>
    check(test, { provider: TEST_PROVIDER }),
  )

  const ONLY_SOMEWHERE = /FusedMatMul|LogSoftmax|Sign\(/
  const signatures = ({ build, inputs }: Case, composed: boolean) =>
    toOnnx(graphOf(build, inputs(), true).outputs, composed).signatures.join()
  const recomposed = Object.entries(CASES).filter(([, test]) => ONLY_SOMEWHERE.test(signatures(test, false)))

  it.each(recomposed)('%s: the same composed of what every provider has', async (_, test) => {
    expect(signatures(test, true)).not.toMatch(ONLY_SOMEWHERE)
    await check(test, { composed: true })
  })

  it('comparisons give booleans', async () => {
    const [a, b] = [input('a', [3]), input('b', [3])]
    const graph = await compile({
      less: e.less(a, b),
      lessOrEqual: e.lessOrEqual(a, b),
      greater: e.greater(a, b),
      greaterOrEqual: e.greaterOrEqual(a, b),
      equal: e.equal(a, b),
      both: e.logicalAnd(e.lessOrEqual(a, b), e.greaterOrEqual(a, b)),
      sign: e.sign(e.sub(a, b)),
      zeros: e.zerosLike(a),
    })
    const out = await graph.run({
      a: { data: Float32Array.of(1, 2, 3), dims: [3] },
      b: { data: Float32Array.of(2, 2, 2), dims: [3] },
    })
    const values = Object.fromEntries(
      Object.entries(out).map(([name, { data }]) => [name, Array.from(data, Number)]),
    )
    expect(values).toEqual({
      less: [1, 0, 0],
      lessOrEqual: [1, 1, 0],
      greater: [0, 0, 1],
      greaterOrEqual: [0, 1, 1],
      equal: [0, 1, 0],
      both: [0, 1, 0],
      sign: [-1, 0, 1],
      zeros: [0, 0, 0],
    })
  })

  it('casts to the other types and back', async () => {
    const x = input('x', [3])
    const graph = await compile({
      int32: e.toFloat(e.cast(x, 'int32')),
      int64: e.toFloat(e.cast(x, 'int64')),
      bool: e.toFloat(e.cast(x, 'bool')),
    })
    const out = await graph.run({ x: { data: Float32Array.of(0, 1.5, -2.5), dims: [3] } })
    expect([...out.int32.data]).toEqual([0, 1, -2])
    expect([...out.int64.data]).toEqual([0, 1, -2])
    expect([...out.bool.data]).toEqual([0, 1, 1])
  })

  it('gives equal maxima equal shares, and the first of two equal operands the whole gradient', async () => {
    const x = input('x', [2, 2])
    const [row] = gradients(reduceSum(reduceMax(x, [1])), [x])
    const [first] = gradients(reduceSum(e.maximum(x, 1)), [x])
    const [inside] = gradients(reduceSum(e.clamp(x, 1, 5)), [x])
    const graph = await compile({ row, first, inside })
    const out = await graph.run({ x: { data: Float32Array.of(1, 1, 0, 2), dims: [2, 2] } })
    expect([...out.row.data]).toEqual([0.5, 0.5, 0, 1])
    expect([...out.first.data]).toEqual([1, 1, 0, 1])
    expect([...out.inside.data]).toEqual([1, 1, 0, 1])
  })

  it('stopGradient lets values through and nothing back', async () => {
    const x = input('x', [2])
    const loss = reduceSum(e.mul(stopGradient(x), x))
    const graph = await compile({ loss, dx: gradients(loss, [x])[0] })
    const out = await graph.run({ x: { data: Float32Array.of(2, 3), dims: [2] } })
    expect(out.loss.data[0]).toBe(13)
    expect([...out.dx.data]).toEqual([2, 3])
  })
})

describe('shape errors name the operation and both shapes', () => {
  const f = (...shape: (number | string)[]) => input('x', shape)
  const at = (...shape: (number | string)[]) => input('i', shape, 'int64')
  const refusals: [string, () => unknown, RegExp][] = [
    ['add', () => e.add(f(2, 3), f(4)), /^add: .*\[2, 3\].*\[4\]/],
    ['add of types', () => e.add(f(2), e.cast(f(2), 'int32')), /^add: float32\[2\].*int32\[2\]/],
    ['symbolic names', () => e.mul(f('B', 3), f('T', 3)), /^mul: .*\[B, 3\].*\[T, 3\]/],
    ['where', () => e.where(e.less(f(5), 0), f(2), f(2)), /^where: .*\[5\].*\[2\]/],
    ['expand', () => e.expand(f(2, 3), [3]), /^expand: .*\[2, 3\].*\[3\]/],
    ['matmul', () => matmul(f(2, 3), f(4, 5)), /^matmul: \[2, 3\] times \[4, 5\].*3 and 4/],
    [
      'matmul transposed',
      () => matmul(f(2, 3), f(4, 5), { transposeB: true }),
      /^matmul: \[2, 3\] times \[4, 5\] transposed/,
    ],
    ['matmul batches', () => matmul(f(2, 2, 3), f(3, 3, 4)), /^matmul: .*\[2\].*\[3\]/],
    ['matmul of a vector', () => matmul(f(3), f(3, 4)), /^matmul: \[3\] times \[3, 4\].*two axes/],
    ['reshape', () => reshape(f(2, 3), [5]), /^reshape: \[2, 3\] has 6.*\[5\] has 5/],
    ['transpose', () => transpose(f(2, 3), [0]), /^transpose: .*\[2, 3\]/],
    ['transpose twice the same axis', () => transpose(f(2, 3), [0, 0]), /^transpose: .*\[2, 3\]/],
    ['slice', () => slice(f(2, 3), 1, 1, 4), /^slice: 1\.\.4.*\[2, 3\]/],
    ['slice axis', () => slice(f(2, 3), 2, 0, 1), /^slice: axis 2 of \[2, 3\]/],
    ['split', () => split(f(2, 3), 1, [1, 1]), /^split: .*\[1,1\].*\[2, 3\]/],
    ['concat', () => concat([f(2, 3), f(3, 3)], 1), /^concat: \[2, 3\] and \[3, 3\]/],
    ['reduceSum', () => reduceSum(f(2, 3), [2]), /^reduceSum: .*\[2, 3\]/],
    ['gather', () => gather(f(4, 3), f(2)), /^gather: .*float32\[2\]/],
    [
      'scatterAddRows',
      () => scatterAddRows(f(4, 3), at(2), f(3, 3)),
      /^scatterAddRows: .*\[3, 3\].*\[2\].*\[4, 3\]/,
    ],
    ['pick', () => pick(f(4, 3), at(2, 1)), /^pick: .*\[2, 1\].*\[4, 3\]/],
    ['placeLast', () => placeLast(f(4, 3), at(4, 1), f(4, 2)), /^place: .*\[4, 2\].*\[4, 1\].*\[4, 3\]/],
    ['rmsNorm', () => nn.rmsNorm(f(2, 3), f(4), 1e-5), /^rmsNorm: .*\[4\].*\[2, 3\]/],
    ['rotary', () => nn.rotary(f(2, 6), at(2), ANGLES), /^rotary: .*\[2, 1, 6\].*\[2, 1\]/],
    ['constant', () => constant(Float32Array.of(1, 2), [3]), /^constant: 2 values.*\[3\]/],
    ['gradients of no scalar', () => gradients(f(2), [f(2)]), /scalar, got \[2\]/],
  ]
  it.each(refusals)('%s', (_, build, message) => {
    expect(build).toThrow(ShapeError)
    expect(build).toThrow(message)
  })

  it('an op without a gradient says how to stop it', () => {
    const x = input('x', [2])
    const loss = reduceSum(e.sign(x))
    expect(() => gradients(loss, [x])).toThrow(/sign has no gradient.*stopGradient/)
  })

  it('a scalar constant is its own shape', () => {
    expect(scalar(3).shape).toEqual([])
  })
})
