import { describe, expect, it } from 'vitest'
import { besideBusyLoops } from '../../util/busy-loop.fixture.ts'
import { Rng } from '../../util/rng.ts'
import { checkDeterminism, type DeterminismCheck } from '../determinism-check.ts'
import { Executable } from '../executable.ts'
import type { CheckInput } from '../gradient-check.ts'
import { constant, input, type Tensor } from '../tensor.ts'
import * as elementwise from './elementwise.ts'
import * as indexOps from './index-ops.ts'
import * as matmulOps from './matmul.ts'
import * as nn from './nn.ts'
import * as reduceOps from './reduce.ts'
import * as shapeOps from './shape.ts'

const e = elementwise
const { gather, scatterAddRows, pick, placeLast } = indexOps
const { reduceSum, reduceMax, reduceMean } = reduceOps
const { reshape, transpose, slice, pad, split, concat } = shapeOps
const { matmul } = matmulOps

/**
 * `GRADUS_DETERMINISM_RUNS=50 npx vitest run src/tensor/ops/determinism.test.ts` is the thorough check; it also writes a
 * line for every operation.
 */
const THOROUGH = process.env.GRADUS_DETERMINISM_RUNS
const RUNS = Number(THOROUGH ?? 3)

/** Random numbers that all cases read, each from another place: making them anew would take longer than the operations. */
const POOL = (() => {
  const rng = new Rng('determinism')
  return Float32Array.from({ length: 2 ** 20 }, () => 2 * rng.next() - 1)
})()
const POSITIVE = POOL.map(x => 1 + x / 2)

const size = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1)
const view = (pool: Float32Array, shape: number[], seed: number): CheckInput => ({
  shape,
  data: pool.subarray(seed * 1009, seed * 1009 + size(shape)),
})
const floats = (shape: number[], seed = 0) => view(POOL, shape, seed)
const positive = (shape: number[], seed = 0) => view(POSITIVE, shape, seed)
/** Whole numbers from 0 to below `count`. */
const ids = (shape: number[], count: number, seed = 0): CheckInput => ({
  shape,
  data: BigInt64Array.from(floats(shape, seed).data as Float32Array, x =>
    BigInt(Math.floor(((x + 1) / 2) * count)),
  ),
  dtype: 'int64',
})

interface Case {
  build: (x: Tensor[]) => Tensor | Tensor[]
  inputs: CheckInput[]
  /** Comparisons and the like have none. */
  withGradient?: boolean
}

/** Sizes at which the runtime divides the work among its threads. */
const BIG = [1024, 256]
const ids4 = ids([2048], 4)
const unary = (op: (x: Tensor) => Tensor, x = floats(BIG)): Case => ({ build: ([a]) => op(a), inputs: [x] })
const binary = (op: (a: Tensor, b: Tensor) => Tensor): Case => ({
  build: ([a, b, row, column]) => [op(a, b), op(a, row), op(a, column)],
  inputs: [floats(BIG), positive(BIG, 1), positive([256], 2), positive([1024, 1], 3)],
})
const comparison = (op: (a: Tensor, b: Tensor) => Tensor): Case => ({ ...binary(op), withGradient: false })
const product = (a: number[], b: number[], options: Parameters<typeof matmul>[2] = {}): Case => ({
  build: ([x, y]) => matmul(x, y, options),
  inputs: [floats(a), floats(b, 5)],
})

/** Angles of 512 positions for heads of 64. */
const ANGLES = (() => {
  const table = (f: (x: number) => number) =>
    constant(
      Float32Array.from({ length: 512 * 32 }, (_, i) => f(i % 977)),
      [512, 32],
    )
  return { cos: table(Math.cos), sin: table(Math.sin) }
})()
const CAUSAL = Float32Array.from({ length: 128 * 128 }, (_, at) =>
  at % 128 > Math.floor(at / 128) ? -1e9 : 0,
)

/** Every exported operation; several cases of one operation are told apart after the slash. */
const CASES: Record<string, Case> = {
  add: binary(e.add),
  sub: binary(e.sub),
  mul: binary(e.mul),
  div: binary(e.div),
  maximum: binary(e.maximum),
  minimum: binary(e.minimum),
  less: comparison(e.less),
  lessOrEqual: comparison(e.lessOrEqual),
  greater: comparison(e.greater),
  greaterOrEqual: comparison(e.greaterOrEqual),
  equal: comparison(e.equal),
  logicalAnd: comparison((a, b) => e.logicalAnd(e.less(a, b), e.greater(b, 1))),
  neg: unary(e.neg),
  exp: unary(e.exp),
  log: unary(e.log, positive(BIG)),
  sqrt: unary(e.sqrt, positive(BIG)),
  reciprocal: unary(e.reciprocal, positive(BIG)),
  abs: unary(e.abs),
  sign: { ...unary(e.sign), withGradient: false },
  tanh: unary(e.tanh),
  sigmoid: unary(e.sigmoid),
  square: unary(e.square),
  silu: unary(e.silu),
  clamp: unary(x => e.clamp(x, -0.25, 0.25)),
  cast: unary(x => e.mul(e.toFloat(e.cast(e.mul(x, 9), 'int32')), x)),
  toFloat: unary(x => e.mul(e.toFloat(e.greater(x, 0)), x)),
  where: {
    build: ([a, b, row]) => [e.where(e.greater(a, 0), a, b), e.where(e.greater(a, 0), row, b)],
    inputs: [floats(BIG), floats(BIG, 1), floats([256], 2)],
  },
  expand: {
    build: ([row, column]) => [e.expand(row, BIG), e.expand(column, BIG)],
    inputs: [floats([256]), floats([1024, 1], 1)],
  },
  sumTo: unary(x => e.sumTo(reshape(x, [16, 64, 256]), [64, 1])),
  zerosLike: { ...unary(e.zerosLike), withGradient: false },
  'gather/few places': { build: ([table, at]) => gather(table, at), inputs: [floats([8, 128]), ids4] },
  'gather/many places': {
    build: ([table, at]) => gather(table, at),
    inputs: [floats([4096, 128]), ids([2048], 4096)],
  },
  'gather/two axes of ids': {
    build: ([table, at]) => gather(table, at),
    inputs: [floats([8, 16, 8]), ids([32, 64], 8)],
  },
  'scatterAddRows/four places': {
    build: ([table, at, rows]) => scatterAddRows(table, at, rows),
    inputs: [floats([8, 128]), ids4, floats([2048, 128], 1)],
  },
  'scatterAddRows/many places': {
    build: ([table, at, rows]) => scatterAddRows(table, at, rows),
    inputs: [floats([4096, 128]), ids([2048], 4096), floats([2048, 128], 1)],
  },
  pick: { build: ([x, at]) => pick(x, at), inputs: [floats(BIG), ids([1024, 64], 4)] },
  placeLast: {
    build: ([x, at, values]) => placeLast(x, at, values),
    inputs: [floats(BIG), ids([1024, 64], 4), floats([1024, 64], 1)],
  },
  matmul: product([1024, 256], [256, 512]),
  'matmul/a transposed': product([256, 1024], [256, 512], { transposeA: true }),
  'matmul/b transposed': product([1024, 256], [512, 256], { transposeB: true, alpha: 0.5 }),
  'matmul/both transposed': product([256, 1024], [512, 256], { transposeA: true, transposeB: true }),
  'matmul/odd sizes': product([1021, 253], [253, 509]),
  'matmul/long inner axis': product([16, 16_384], [16_384, 16]),
  'matmul/long inner axis, a transposed': product([16_384, 16], [16_384, 16], { transposeA: true }),
  'matmul/one row': product([1, 1024], [1024, 512]),
  'matmul/one row, b transposed': product([1, 1024], [512, 1024], { transposeB: true }),
  'matmul/one column': product([4096, 128], [128, 1]),
  'matmul/one column, odd rows': product([1923, 256], [256, 1]),
  'matmul/one element': product([1, 262_144], [262_144, 1]),
  'matmul/batches': product([4, 4, 128, 64], [4, 4, 64, 128]),
  'matmul/shared by batches': product([4, 4, 128, 64], [4, 1, 128, 64], { transposeB: true }),
  'matmul/batch against one matrix': product([8, 128, 256], [256, 256]),
  'reduceSum/all': unary(x => reduceSum(x)),
  'reduceSum/first axis': unary(x => reduceSum(x, [0])),
  'reduceSum/last axis': unary(x => reduceSum(x, [1])),
  'reduceSum/few long rows': unary(x => reduceSum(reshape(x, [2, 131_072]), [1])),
  'reduceSum/few long columns': unary(x => reduceSum(reshape(x, [131_072, 2]), [0])),
  'reduceSum/middle axis': unary(x => reduceSum(reshape(x, [16, 64, 256]), [1], { keepDims: true })),
  'reduceSum/outer axes': unary(x => reduceSum(reshape(x, [16, 64, 256]), [0, 2])),
  'reduceMax/first axis': unary(x => reduceMax(x, [0])),
  'reduceMax/last axis': unary(x => reduceMax(x, [1])),
  'reduceMax/all': unary(x => reduceMax(x)),
  reduceMean: unary(x => e.add(reduceMean(x), reduceMean(x, [0]))),
  reshape: unary(x => reshape(x, [512, 512])),
  transpose: unary(x => transpose(reshape(x, [16, 64, 256]), [2, 0, 1])),
  'transpose/heads first': unary(x => transpose(reshape(x, [1024, 4, 64]), [1, 0, 2])),
  slice: unary(x => slice(x, 0, 100, 900)),
  pad: unary(x => pad(x, 1, 3, 5)),
  split: { build: ([x]) => split(x, 0, [300, 724]), inputs: [floats(BIG)] },
  concat: {
    build: ([a, b]) => [concat([a, b], 0), concat([a, b], 1)],
    inputs: [floats(BIG), floats(BIG, 1)],
  },
  rowSum: unary(x => nn.rowSum(x, 0.5)),
  softmax: unary(nn.softmax),
  'softmax/few long rows': unary(x => nn.softmax(reshape(x, [2, 131_072]))),
  logSoftmax: unary(nn.logSoftmax),
  rmsNorm: {
    build: ([x, weight]) => nn.rmsNorm(x, weight, 1e-5),
    inputs: [floats(BIG), positive([256], 1)],
  },
  rotary: {
    build: ([x, positions]) => nn.rotary(x, positions, ANGLES),
    inputs: [floats(BIG), ids([1024], 512, 1)],
  },
  attention: {
    build: ([q, keys, values]) =>
      nn.attention(q, [{ keys, values, mask: constant(CAUSAL, [128, 128]), queryShape: q.shape }], 0.1),
    inputs: [floats([4, 2, 128, 64]), floats([4, 1, 128, 64], 1), floats([4, 1, 128, 64], 2)],
  },
  tokenLogProbs: {
    build: ([hidden, table, targets]) => Object.values(nn.tokenLogProbs(hidden, table, targets)),
    inputs: [floats([1024, 64]), floats([512, 64], 1), ids([1024], 4)],
  },
  'tokenLogProbs/streamed': {
    build: ([hidden, table, targets]) => Object.values(nn.tokenLogProbs(hidden, table, targets, 256)),
    inputs: [floats([1024, 64]), floats([512, 64], 1), ids([1024], 4)],
  },
}

const describeCheck = (name: string, { runs, differing, sameAsOneThread, worst }: DeterminismCheck) =>
  `${name}: ${differing} of ${runs} runs differ; ${sameAsOneThread ? 'bits' : 'not the bits'} of one thread, at most ${worst.toExponential(1)} from it`

describe('operations on two threads', () => {
  it('all have a case', () => {
    const modules = [elementwise, indexOps, matmulOps, nn, reduceOps, shapeOps]
    const exported = modules.flatMap(module =>
      Object.entries(module).flatMap(([name, value]) => (typeof value === 'function' ? [name] : [])),
    )
    const covered = new Set(Object.keys(CASES).map(name => name.split('/')[0]))
    expect(exported.filter(name => !covered.has(name))).toEqual([])
  })

  it('give the same bits in every run beside a busy loop, and what one thread gives but for rounding', async () => {
    const checks = await besideBusyLoops(1, async () => {
      const found: [string, DeterminismCheck][] = []
      for (const [name, { build, inputs, withGradient }] of Object.entries(CASES))
        found.push([
          name,
          await checkDeterminism(build, inputs, { runs: RUNS, spinning: false, withGradient }),
        ])
      return found
    })
    if (THOROUGH) console.log(checks.map(([name, check]) => describeCheck(name, check)).join('\n'))
    const wrong = checks.filter(([, { differing, worst }]) => differing > 0 || !(worst < 1e-5))
    expect(wrong.map(([name, check]) => describeCheck(name, check))).toEqual([])
  }, 600_000)
})

describe('2,048 rows of 128 added to four places of a table on two threads', () => {
  it('are the sums in the order of the rows, 200 times', async () => {
    const rows = floats([2048, 128], 1)
    const [table, at, x] = [
      input('table', [4, 128]),
      input('ids', [2048], 'int64'),
      input('rows', [2048, 128]),
    ]
    const graph = await Executable.compile(
      { sums: scatterAddRows(table, at, x) },
      { threads: 2, spinning: false },
    )
    const expected = new Float32Array(4 * 128)
    ;(rows.data as Float32Array).forEach((value, i) => {
      expected[Number(ids4.data[Math.floor(i / 128)]) * 128 + (i % 128)] += value
    })
    let wrong = 0
    for (let run = 0; run < 200; run++) {
      const { sums } = await graph.run({
        table: { data: new Float32Array(4 * 128), dims: [4, 128] },
        ids: { data: ids4.data, dims: [2048] },
        rows: { data: rows.data, dims: [2048, 128] },
      })
      if (!expected.every((sum, i) => sum === sums.data[i])) wrong++
    }
    await graph.release()
    expect(wrong).toBe(0)
  })
})
