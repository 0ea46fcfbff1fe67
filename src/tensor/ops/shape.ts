/** @file Operations that move elements and compute nothing: reshape, transpose, slice, split, concat. */

import { ShapeError } from '../../util/errors.ts'
import { type Dim, product, type Shape, sameShape, showShape, sumDims } from '../dim.ts'
import { apply1, applyOp, constant, int64s, type Op, sizes, type Tensor } from '../tensor.ts'
import { zerosLike } from './elementwise.ts'

const axisOf = (op: string, x: Tensor, axis: number): number => {
  const positive = axis < 0 ? axis + x.rank : axis
  if (positive < 0 || positive >= x.rank)
    throw new ShapeError(`${op}: axis ${axis} of ${showShape(x.shape)} does not exist`)
  return positive
}

/**
 * The target of a reshape as ONNX wants it: 0 copies a size, one -1 is worked out; anything else comes from run-time sizes.
 */
const reshapeTarget = (from: Shape, to: Shape): Tensor => {
  const unknown = to.filter((dim, i) => typeof dim !== 'number' && dim !== from[i]).length
  if (unknown > 1) return sizes(to)
  return int64s(to.map((dim, i) => (typeof dim === 'number' ? dim : dim === from[i] ? 0 : -1)))
}

const reshapeOp: Op<{ shape: Shape }> = {
  name: 'reshape',
  infer: ([x], { shape }) => {
    if (product(x.shape) !== product(shape))
      throw new ShapeError(
        `reshape: ${showShape(x.shape)} has ${product(x.shape)} elements, ${showShape(shape)} has ${product(shape)}`,
      )
    return [{ dtype: x.dtype, shape }]
  },
  emit: ([x], { shape }) => ({ type: 'Reshape', inputs: [x, reshapeTarget(x.shape, shape)] }),
  gradient: ({ inputs: [x] }, [dy]) => [reshape(dy!, x.shape)],
}
/** The same elements in row-major order under another shape. A reshape of a reshape is one: each costs a call of the runtime. */
export const reshape = (x: Tensor, shape: Shape): Tensor => {
  if (sameShape(x.shape, shape)) return x
  const before =
    x.source.kind === 'call' && x.source.call.op.name === reshapeOp.name ? x.source.call.inputs[0] : x
  return sameShape(before.shape, shape) ? before : apply1(reshapeOp, [before], { shape })
}

const transposeOp: Op<{ order: readonly number[] }> = {
  name: 'transpose',
  infer: ([x], { order }) => {
    const isPermutation = [...order].sort((a, b) => a - b).every((axis, i) => axis === i)
    if (order.length !== x.rank || !isPermutation)
      throw new ShapeError(`transpose: [${order}] is no order of the axes of ${showShape(x.shape)}`)
    return [{ dtype: x.dtype, shape: order.map(axis => x.shape[axis]) }]
  },
  emit: ([x], { order }) => ({ type: 'Transpose', attributes: { perm: order }, inputs: [x] }),
  gradient: ({ attributes: { order } }, [dy]) => [
    transpose(
      dy!,
      order.map((_, axis) => order.indexOf(axis)),
    ),
  ],
}
/** Axis i of the result is axis order[i] of x. */
export const transpose = (x: Tensor, order: readonly number[]): Tensor =>
  order.length === x.rank && order.every((axis, i) => axis === i) ? x : apply1(transposeOp, [x], { order })

interface SliceAttributes {
  axis: number
  start: number
  end: number
}

const sliceOp: Op<SliceAttributes> = {
  name: 'slice',
  infer: ([x], { axis, start, end }) => {
    const size = x.shape[axis]
    if (start < 0 || end < start || (typeof size === 'number' && end > size))
      throw new ShapeError(`slice: ${start}..${end} of axis ${axis} of ${showShape(x.shape)}`)
    return [{ dtype: x.dtype, shape: x.shape.map((dim, i) => (i === axis ? end - start : dim)) }]
  },
  emit: ([x], { axis, start, end }) => ({
    type: 'Slice',
    inputs: [x, int64s([start]), int64s([end]), int64s([axis])],
  }),
  gradient: ({ inputs: [x], attributes: { axis, start, end } }, [dy]) => {
    const size = x.shape[axis]
    if (typeof size !== 'number')
      throw new ShapeError(`slice: the gradient needs a fixed size on axis ${axis} of ${showShape(x.shape)}`)
    return [pad(dy!, axis, start, size - end)]
  },
}
/** Elements start..end-1 along an axis. */
export const slice = (x: Tensor, axis: number, start: number, end: number): Tensor =>
  apply1(sliceOp, [x], { axis: axisOf('slice', x, axis), start, end })

interface PadAttributes {
  axis: number
  before: number
  after: number
}

const padOp: Op<PadAttributes> = {
  name: 'pad',
  infer: ([x], { axis, before, after }) => [
    { dtype: x.dtype, shape: x.shape.map((dim, i) => (i === axis ? sumDims([dim, before, after]) : dim)) },
  ],
  emit: ([x], { axis, before, after }) => ({
    type: 'Pad',
    inputs: [
      x,
      int64s([
        ...x.shape.map((_, i) => (i === axis ? before : 0)),
        ...x.shape.map((_, i) => (i === axis ? after : 0)),
      ]),
    ],
  }),
  gradient: ({ inputs: [x], attributes: { axis, before } }, [dy]) => {
    const size = x.shape[axis]
    if (typeof size !== 'number')
      throw new ShapeError('pad: the gradient needs a fixed size on the padded axis')
    return [slice(dy!, axis, before, before + size)]
  },
}
/** Adds zeros before and after along an axis. */
export const pad = (x: Tensor, axis: number, before: number, after: number): Tensor =>
  apply1(padOp, [x], { axis: axisOf('pad', x, axis), before, after })

const splitOp: Op<{ axis: number; parts: Shape }> = {
  name: 'split',
  infer: ([x], { axis, parts }) => {
    if (x.shape[axis] !== sumDims(parts))
      throw new ShapeError(`split: parts [${parts}] do not add up to axis ${axis} of ${showShape(x.shape)}`)
    return parts.map(part => ({ dtype: x.dtype, shape: x.shape.map((dim, i) => (i === axis ? part : dim)) }))
  },
  emit: ([x], { axis, parts }) => ({ type: 'Split', attributes: { axis }, inputs: [x, sizes(parts)] }),
  gradient: ({ outputs, attributes: { axis } }, dOutputs) => [
    concat(
      dOutputs.map((dy, i) => dy ?? zerosLike(outputs[i])),
      axis,
    ),
  ],
}
/** Cuts an axis into consecutive parts. */
export const split = (x: Tensor, axis: number, parts: Shape): Tensor[] =>
  parts.length === 1 ? [x] : applyOp(splitOp, [x], { axis: axisOf('split', x, axis), parts })

const concatOp: Op<{ axis: number }> = {
  name: 'concat',
  infer: (inputs, { axis }) => {
    const [first, ...rest] = inputs
    for (const other of rest) {
      const fits =
        other.rank === first.rank && first.shape.every((dim, i) => i === axis || dim === other.shape[i])
      if (!fits)
        throw new ShapeError(
          `concat: ${showShape(first.shape)} and ${showShape(other.shape)} along axis ${axis}`,
        )
    }
    const total: Dim = sumDims(inputs.map(x => x.shape[axis]))
    return [{ dtype: first.dtype, shape: first.shape.map((dim, i) => (i === axis ? total : dim)) }]
  },
  emit: (inputs, { axis }) => ({ type: 'Concat', attributes: { axis }, inputs: [...inputs] }),
  gradient: ({ inputs, attributes: { axis } }, [dy]) =>
    split(
      dy!,
      axis,
      inputs.map(x => x.shape[axis]),
    ),
}
/** Constants one behind the other are a constant. */
const joinedConstants = (inputs: readonly Tensor[]): Tensor | null => {
  const data = inputs.map(({ source }) => (source.kind === 'constant' ? source.data : null))
  if (!data.every(part => part instanceof Float32Array)) return null
  const joined = new Float32Array(data.reduce((total, part) => total + part.length, 0))
  data.reduce((at, part) => {
    joined.set(part, at)
    return at + part.length
  }, 0)
  const rows = inputs.reduce((total, { shape }) => total + (shape[0] as number), 0)
  return constant(joined, [rows, ...(inputs[0].shape.slice(1) as number[])])
}

/** Joins tensors along an axis. */
export const concat = (inputs: readonly Tensor[], axis: number): Tensor => {
  if (inputs.length === 1) return inputs[0]
  const along = axisOf('concat', inputs[0], axis)
  return (along === 0 && joinedConstants(inputs)) || apply1(concatOp, inputs, { axis: along })
}
