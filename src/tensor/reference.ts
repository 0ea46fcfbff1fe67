/** @file A graph computed in plain float64 arithmetic, one element after the other: what a runtime is compared with. */

import { ShapeError } from '../util/errors.ts'
import { bindShape, evaluate } from './dim.ts'
import type { Values } from './executable.ts'
import { callsOf } from './onnx.ts'
import { ONNX_TYPE } from './ops/elementwise.ts'
import { type Attribute, type OnnxNode, resolve, type Tensor } from './tensor.ts'

/** A tensor's elements as float64, whole numbers and booleans too. */
export interface PlainValue {
  data: Float64Array
  dims: readonly number[]
}

type Attributes = Readonly<Record<string, Attribute>>
/** Computes all outputs of one node. */
type Kernel = (
  inputs: readonly PlainValue[],
  attributes: Attributes,
  outputDims: readonly (readonly number[])[],
) => Float64Array[]

const count = (dims: readonly number[]) => dims.reduce((a, b) => a * b, 1)

const stridesOf = (dims: readonly number[]): number[] => dims.map((_, axis) => count(dims.slice(axis + 1)))

/** For every element of `dims` in row-major order, where it lies when a step along each axis is `strides` wide. */
const places = (dims: readonly number[], strides: readonly number[]): Int32Array => {
  let found = Int32Array.of(0)
  dims.forEach((size, axis) => {
    const next = new Int32Array(found.length * size)
    for (let i = 0, at = 0; i < found.length; i++)
      for (let j = 0; j < size; j++) next[at++] = found[i] + j * strides[axis]
    found = next
  })
  return found
}

/** Where each element of the broadcast shape comes from. */
const broadcastPlaces = ({ dims }: Pick<PlainValue, 'dims'>, to: readonly number[]): Int32Array => {
  const lead = to.length - dims.length
  const strides = stridesOf(dims)
  return places(
    to,
    to.map((_, axis) => (axis < lead || dims[axis - lead] === 1 ? 0 : strides[axis - lead])),
  )
}

const spread = (x: PlainValue, to: readonly number[]): Float64Array => {
  if (x.data.length === count(to)) return x.data
  return Float64Array.from(broadcastPlaces(x, to), place => x.data[place])
}

const unary =
  (f: (x: number) => number): Kernel =>
  ([x]) => [x.data.map(f)]

const binary =
  (f: (a: number, b: number) => number): Kernel =>
  ([a, b], _attributes, [to]) => {
    const [left, right] = [spread(a, to), spread(b, to)]
    return [left.map((x, i) => f(x, right[i]))]
  }

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x))
/** By its tanh approximation. */
const gelu = (x: number) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)))
const floatOf = (attribute: Attribute): number => (attribute as { float: number }).float

const cast: Kernel = ([x], { to }) => {
  if (to === ONNX_TYPE.float32) return [x.data]
  return [x.data.map(to === ONNX_TYPE.bool ? value => Number(value !== 0) : Math.trunc)]
}

const where: Kernel = ([condition, a, b], _attributes, [to]) => {
  const [chosen, left, right] = [spread(condition, to), spread(a, to), spread(b, to)]
  return [left.map((x, i) => (chosen[i] ? x : right[i]))]
}

const reduction =
  (start: number, f: (total: number, x: number) => number): Kernel =>
  ([x, axes]) => {
    const reduced = new Set(axes.data)
    const kept = x.dims.map((size, axis) => (reduced.has(axis) ? 1 : size))
    const strides = stridesOf(kept).map((stride, axis) => (reduced.has(axis) ? 0 : stride))
    const totals = new Float64Array(count(kept)).fill(start)
    places(x.dims, strides).forEach((to, from) => {
      totals[to] = f(totals[to], x.data[from])
    })
    return [totals]
  }

/** f over each row of the last axis. */
const rowwise =
  (f: (row: Float64Array, inputs: readonly PlainValue[], attributes: Attributes) => Float64Array): Kernel =>
  (inputs, attributes) => {
    const [{ data, dims }] = inputs
    const width = dims[dims.length - 1]
    const result = new Float64Array(data.length)
    for (let at = 0; at < data.length; at += width)
      result.set(f(data.subarray(at, at + width), inputs, attributes), at)
    return [result]
  }

const logSumExp = (row: Float64Array): number => {
  const top = row.reduce((a, b) => Math.max(a, b))
  return top + Math.log(row.reduce((sum, x) => sum + Math.exp(x - top), 0))
}

const rmsNorm = rowwise((row, [, weight], { epsilon }) => {
  const mean = row.reduce((sum, x) => sum + x * x, 0) / row.length
  const factor = 1 / Math.sqrt(mean + floatOf(epsilon))
  return row.map((x, i) => x * factor * weight.data[i])
})

/** Half-split rotary positions of x [tokens, 1, heads * 2 h] by tables [positions, h]. */
const rotary: Kernel = ([x, positions, cos, sin]) => {
  const [width, half] = [x.dims[2], cos.dims[1]]
  const result = new Float64Array(x.data.length)
  for (let at = 0; at < x.data.length; at += 2 * half)
    for (let i = 0; i < half; i++) {
      const angle = positions.data[Math.floor(at / width)] * half + i
      const [a, b] = [x.data[at + i], x.data[at + half + i]]
      result[at + i] = a * cos.data[angle] - b * sin.data[angle]
      result[at + half + i] = b * cos.data[angle] + a * sin.data[angle]
    }
  return [result]
}

/** Rows of the last two axes as they are, or columns as rows. */
const asRows = (data: Float64Array, rows: number, columns: number, transposed: boolean): Float64Array =>
  transposed ? Float64Array.from(places([columns, rows], [1, columns]), place => data[place]) : data

const matmul: Kernel = ([a, b], attributes, [to]) => {
  const alpha = attributes.alpha === undefined ? 1 : floatOf(attributes.alpha)
  const [rows, columns] = to.slice(-2)
  const batch = to.slice(0, -2)
  const inner = count(a.dims.slice(-2)) / rows
  const [fromA, fromB] = [a, b].map(({ dims }) => broadcastPlaces({ dims: dims.slice(0, -2) }, batch))
  const result = new Float64Array(count(to))
  fromA.forEach((placeA, i) => {
    const partA = a.data.subarray(placeA * rows * inner, (placeA + 1) * rows * inner)
    const partB = b.data.subarray(fromB[i] * inner * columns, (fromB[i] + 1) * inner * columns)
    const left = attributes.transA ? asRows(partA, inner, rows, true) : partA // [rows, inner]
    const right = attributes.transB ? partB : asRows(partB, inner, columns, true) // [columns, inner]
    for (let r = 0, at = i * rows * columns; r < rows; r++)
      for (let c = 0; c < columns; c++) {
        let sum = 0
        for (let k = 0; k < inner; k++) sum += left[r * inner + k] * right[c * inner + k]
        result[at++] = alpha * sum
      }
  })
  return [result]
}

const transpose: Kernel = ([x], { perm }, [to]) => {
  const strides = stridesOf(x.dims)
  const order = perm as readonly number[]
  return [
    Float64Array.from(
      places(
        to,
        order.map(axis => strides[axis]),
      ),
      place => x.data[place],
    ),
  ]
}

const slice: Kernel = ([x, starts, , axes], _attributes, [to]) => {
  const strides = stridesOf(x.dims)
  const first = axes.data.reduce((sum, axis, i) => sum + starts.data[i] * strides[axis], 0)
  return [Float64Array.from(places(to, strides), place => x.data[first + place])]
}

const pad: Kernel = ([x, pads], _attributes, [to]) => {
  const strides = stridesOf(to)
  const first = strides.reduce((sum, stride, axis) => sum + pads.data[axis] * stride, 0)
  const result = new Float64Array(count(to))
  places(x.dims, strides).forEach((place, i) => {
    result[first + place] = x.data[i]
  })
  return [result]
}

/** Copies pieces of one axis between a whole and its parts. */
const eachPiece = (
  whole: readonly number[],
  axis: number,
  sizes: readonly number[],
  copy: (part: number, fromWhole: number, fromPart: number, length: number) => void,
): void => {
  const inner = count(whole.slice(axis + 1))
  for (let outer = 0; outer < count(whole.slice(0, axis)); outer++) {
    let start = outer * whole[axis] * inner
    sizes.forEach((size, part) => {
      copy(part, start, outer * size * inner, size * inner)
      start += size * inner
    })
  }
}

const concat: Kernel = (inputs, attributes, [to]) => {
  const axis = attributes.axis as number
  const result = new Float64Array(count(to))
  const sizes = inputs.map(({ dims }) => dims[axis])
  eachPiece(to, axis, sizes, (part, at, from, length) => {
    result.set(inputs[part].data.subarray(from, from + length), at)
  })
  return [result]
}

const split: Kernel = ([x, sizes], attributes, to) => {
  const results = to.map(dims => new Float64Array(count(dims)))
  eachPiece(x.dims, attributes.axis as number, [...sizes.data], (part, from, at, length) => {
    results[part].set(x.data.subarray(from, from + length), at)
  })
  return results
}

const gather: Kernel = ([table, ids], attributes) => {
  const axis = attributes.axis as number
  const rows = table.dims[axis]
  const width = count(table.dims.slice(axis + 1))
  const blocks = count(table.dims.slice(0, axis))
  const result = new Float64Array(blocks * ids.data.length * width)
  for (let block = 0; block < blocks; block++)
    ids.data.forEach((id, i) => {
      const from = (block * rows + id) * width
      result.set(table.data.subarray(from, from + width), (block * ids.data.length + i) * width)
    })
  return [result]
}

/** Where in x an index along one axis points, for every element of ids. */
const pointedAt = (x: PlainValue, ids: PlainValue, axis: number): Int32Array => {
  const strides = stridesOf(x.dims)
  const others = strides.map((stride, i) => (i === axis ? 0 : stride))
  return places(ids.dims, others).map((place, i) => place + ids.data[i] * strides[axis])
}

const gatherElements: Kernel = ([x, ids], { axis }) => [
  Float64Array.from(pointedAt(x, ids, axis as number), place => x.data[place]),
]

const scatterElements: Kernel = ([x, ids, values], { axis }) => {
  const result = x.data.slice()
  pointedAt(x, ids, axis as number).forEach((place, i) => {
    result[place] += values.data[i]
  })
  return [result]
}

/** Halves to even, as the runtime does. */
const rounded = (x: number): number => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x))

/** f of each number, its row's step and zero point. */
const rowSteps =
  (f: (x: number, step: number, zero: number) => number): Kernel =>
  ([{ data, dims }, steps, zeros]) => {
    const width = count(dims.slice(1))
    return [data.map((x, i) => f(x, steps.data[Math.floor(i / width)], zeros.data[Math.floor(i / width)]))]
  }

const matmulOfBytes: Kernel = ([a, b, , scales, ...zeros], attributes, [to]) => {
  const factors = [a, b].map((of, i) => ({ ...of, data: of.data.map(x => x - zeros[i].data[0]) }))
  const [sums] = matmul(factors, attributes, [to])
  return [sums.map((sum, i) => sum * scales.data[i % scales.data.length])]
}

const unchanged: Kernel = ([x]) => [x.data]
const expand: Kernel = ([x], _attributes, [to]) => [spread(x, to)]

/** By ONNX operator, whatever its domain. */
const KERNELS: Readonly<Record<string, Kernel>> = {
  Add: binary((a, b) => a + b),
  Sub: binary((a, b) => a - b),
  Mul: binary((a, b) => a * b),
  Div: binary((a, b) => a / b),
  Max: binary((a, b) => Math.max(a, b)),
  Min: binary((a, b) => Math.min(a, b)),
  Less: binary((a, b) => Number(a < b)),
  LessOrEqual: binary((a, b) => Number(a <= b)),
  Greater: binary((a, b) => Number(a > b)),
  GreaterOrEqual: binary((a, b) => Number(a >= b)),
  Equal: binary((a, b) => Number(a === b)),
  And: binary((a, b) => Number(a !== 0 && b !== 0)),
  Neg: unary(x => -x),
  Exp: unary(Math.exp),
  Log: unary(Math.log),
  Sqrt: unary(Math.sqrt),
  Reciprocal: unary(x => 1 / x),
  Abs: unary(Math.abs),
  Sign: unary(Math.sign),
  Tanh: unary(Math.tanh),
  Sigmoid: unary(sigmoid),
  QuickGelu: unary(x => x * sigmoid(x)),
  FastGelu: unary(gelu),
  Cast: cast,
  Where: where,
  Expand: expand,
  Reshape: unchanged,
  Transpose: transpose,
  Slice: slice,
  Pad: pad,
  Split: split,
  Concat: concat,
  ReduceSum: reduction(0, (total, x) => total + x),
  ReduceMax: reduction(-Infinity, Math.max),
  MatMul: matmul,
  FusedMatMul: matmul,
  MatMulIntegerToFloat: matmulOfBytes,
  QuantizeLinear: rowSteps((x, step, zero) => rounded(x / step) + zero),
  DequantizeLinear: rowSteps((code, step, zero) => (code - zero) * step),
  Softmax: rowwise(row => {
    const total = logSumExp(row)
    return row.map(x => Math.exp(x - total))
  }),
  LogSoftmax: rowwise(row => {
    const total = logSumExp(row)
    return row.map(x => x - total)
  }),
  SimplifiedLayerNormalization: rmsNorm,
  RotaryEmbedding: rotary,
  Gather: gather,
  GatherElements: gatherElements,
  ScatterElements: scatterElements,
}

const kernelOf = ({ type }: OnnxNode): Kernel => {
  const kernel = KERNELS[type]
  if (!kernel) throw new ShapeError(`reference: no arithmetic is written for ${type}`)
  return kernel
}

/**
 * The named outputs of a graph, in float64 throughout: exact to about 1e-15 an operation, and slow.
 * @throws ShapeError for an operator that it does not know, or an input without a value
 */
export const computePlainly = (
  outputs: Readonly<Record<string, Tensor>>,
  values: Values,
): Record<string, PlainValue> => {
  const known = new Map<Tensor, PlainValue>()
  const sizes = new Map<string, number>()
  const numbers = (shape: Tensor['shape']) => shape.map(dim => evaluate(dim, sizes))
  const leaf = (x: Tensor): PlainValue => {
    const { source } = x
    if (source.kind === 'sizes')
      return { data: Float64Array.from(numbers(source.dims)), dims: [x.dim(0) as number] }
    if (source.kind === 'constant')
      return { data: Float64Array.from(source.data as ArrayLike<number>, Number), dims: x.shape as number[] }
    const value = source.kind === 'input' ? values[source.name] : undefined
    if (!value) throw new ShapeError(`reference: no value for ${x}`)
    bindShape((source as { name: string }).name, x.shape, value.dims, sizes)
    return { data: Float64Array.from(value.data as ArrayLike<number>, Number), dims: value.dims }
  }
  const computed = (x: Tensor): PlainValue => {
    const tensor = resolve(x)
    const value = known.get(tensor) ?? leaf(tensor)
    known.set(tensor, value)
    return value
  }
  const calls = callsOf(Object.values(outputs))
  // Inputs first: they say how large the named sizes are.
  for (const call of calls) for (const x of call.inputs) if (resolve(x).source.kind === 'input') computed(x)
  for (const call of calls) {
    const node = call.op.emit(call.inputs.map(resolve), call.attributes)
    const dims = call.outputs.map(({ shape }) => numbers(shape))
    const inputs = node.inputs.flatMap(x => (x === '' ? [] : [computed(x)]))
    kernelOf(node)(inputs, node.attributes ?? {}, dims).forEach((data, i) => {
      known.set(call.outputs[i], { data, dims: dims[i] })
    })
  }
  return Object.fromEntries(Object.entries(outputs).map(([name, x]) => [name, computed(x)]))
}
