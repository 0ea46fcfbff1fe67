/** @file Picking rows and elements by index. */

import { ShapeError } from '../../util/errors.ts'
import { product, sameShape, showShape } from '../dim.ts'
import { apply1, type Op, type Tensor, withGradient } from '../tensor.ts'
import { cast, expand, mul, zerosLike } from './elementwise.ts'
import { reshape } from './shape.ts'

type None = Record<never, never>

const needIds = (op: string, x: Tensor, ids: Tensor): void => {
  if (ids.dtype === 'float32' || ids.dtype === 'bool')
    throw new ShapeError(`${op}: expected whole numbers to index ${x} with, got ${ids}`)
}

/** Ids for one axis have the other axes of x. */
const needOneAxis = (op: string, x: Tensor, ids: Tensor, axis: number): void => {
  needIds(op, x, ids)
  const fits = x.shape.every((dim, i) => i === axis || dim === ids.shape[i])
  if (!fits || ids.rank !== x.rank)
    throw new ShapeError(`${op}: ids ${showShape(ids.shape)} for ${showShape(x.shape)}`)
}

const gatherOp: Op<None> = {
  name: 'gather',
  infer: ([table, ids]) => {
    needIds('gather', table, ids)
    return [{ dtype: table.dtype, shape: [...ids.shape, ...table.shape.slice(1)] }]
  },
  emit: inputs => ({ type: 'Gather', attributes: { axis: 0 }, inputs: [...inputs] }),
  // Rows are added where they came from: work and memory grow with the tokens, not with tokens x vocabulary.
  gradient: ({ inputs: [table, ids] }, [dy]) => [scatterAddRows(zerosLike(table), ids, dy!), null],
}
/** Rows of a table: ids of shape [...] give [..., width] (an embedding). */
export const gather = (table: Tensor, ids: Tensor): Tensor => apply1(gatherOp, [table, ids], {})

interface AxisAttributes {
  axis: number
}

const takeRowsOp: Op<AxisAttributes> = {
  name: 'takeRows',
  infer: ([x, ids], { axis }) => {
    needIds('takeRows', x, ids)
    if (x.rank < 2 || ids.rank !== 1)
      throw new ShapeError(`takeRows: rows ${showShape(ids.shape)} of ${showShape(x.shape)}`)
    return [{ dtype: x.dtype, shape: x.shape.map((dim, i) => (i === axis ? ids.shape[0] : dim)) }]
  },
  emit: (inputs, { axis }) => ({ type: 'Gather', attributes: { axis }, inputs: [...inputs] }),
}
/** Rows by the axis before the last: x [..., rows, width], ids [n] give [..., n, width]. */
const takeRows = (x: Tensor, ids: Tensor): Tensor => apply1(takeRowsOp, [x, ids], { axis: x.rank - 2 })

/** Where n rows lie among m places, each row in one place, and some places empty. */
export interface RowPlaces {
  /** Int64 [m]: the row that lies in a place; of an empty one any row. */
  rowAt: Tensor
  /** Int64 [n]: the place of each row. */
  placeOf: Tensor
  /** Float32 [m, 1]: 1 for a place that is taken, 0 for an empty one. */
  taken: Tensor
}

/**
 * Rows x [..., n, width] to their places, [..., m, width]. Empty places get the values of some row: nothing may depend on them, so
 * that their gradient is 0 or of no matter.
 */
export const toPlaces = (x: Tensor, { rowAt, placeOf }: RowPlaces): Tensor =>
  withGradient([takeRows(x, rowAt)], [x], ([dy]) => [takeRows(dy!, placeOf)])[0]

/** Rows from their places, x [..., m, width], back in order, [..., n, width]. */
export const fromPlaces = (x: Tensor, { rowAt, placeOf, taken }: RowPlaces): Tensor =>
  withGradient([takeRows(x, placeOf)], [x], ([dy]) => [mul(takeRows(dy!, rowAt), taken)])[0]

const pickOp: Op<AxisAttributes> = {
  name: 'pick',
  infer: ([x, ids], { axis }) => {
    needOneAxis('pick', x, ids, axis)
    return [{ dtype: x.dtype, shape: ids.shape }]
  },
  emit: (inputs, { axis }) => ({ type: 'GatherElements', attributes: { axis }, inputs: [...inputs] }),
  gradient: ({ inputs: [x, ids], attributes }, [dy]) => [
    apply1(placeOp, [zerosLike(x), ids, dy!], attributes),
    null,
  ],
}
/** Elements along the last axis: x [..., V], ids [..., K] give [..., K]. */
export const pick = (x: Tensor, ids: Tensor): Tensor => apply1(pickOp, [x, ids], { axis: x.rank - 1 })

// ScatterElements goes through its elements one by one, on one thread. ScatterND is faster and not to be had here: with
// `reduction: add` the CPU provider lets its threads add to one place at the same time, and sums are lost.
const placeOp: Op<AxisAttributes> = {
  name: 'place',
  infer: ([x, ids, values], { axis }) => {
    needOneAxis('place', x, ids, axis)
    if (!sameShape(values.shape, ids.shape))
      throw new ShapeError(
        `place: values ${showShape(values.shape)} for ids ${showShape(ids.shape)} of ${showShape(x.shape)}`,
      )
    return [{ dtype: x.dtype, shape: x.shape }]
  },
  emit: (inputs, { axis }) => ({
    type: 'ScatterElements',
    attributes: { axis, reduction: 'add' },
    inputs: [...inputs],
  }),
  gradient: ({ inputs: [, ids], attributes }, [dy]) => [dy, null, apply1(pickOp, [dy!, ids], attributes)],
}
/** x with values added at positions of its last axis; repeated positions add up. */
export const placeLast = (x: Tensor, ids: Tensor, values: Tensor): Tensor =>
  apply1(placeOp, [x, ids, values], { axis: x.rank - 1 })

/** The table with rows [..., width] added at ids [...], in the order of the rows; repeated ids add up. */
export const scatterAddRows = (table: Tensor, ids: Tensor, rows: Tensor): Tensor => {
  needIds('scatterAddRows', table, ids)
  const width = table.shape.slice(1)
  if (!sameShape(rows.shape, [...ids.shape, ...width]))
    throw new ShapeError(
      `scatterAddRows: rows ${showShape(rows.shape)} for ids ${showShape(ids.shape)} and table ${showShape(table.shape)}`,
    )
  const count = product(ids.shape)
  // As int32, which is half the memory, and which WebGPU can spread where it cannot spread int64.
  const perElement = expand(reshape(cast(ids, 'int32'), [count, ...width.map(() => 1)]), [count, ...width])
  return apply1(placeOp, [table, perElement, reshape(rows, perElement.shape)], { axis: 0 })
}
