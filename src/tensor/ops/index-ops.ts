/** @file Picking rows and elements by index. */

import { ShapeError } from '../../util/errors.ts'
import { sameShape, showShape } from '../dim.ts'
import { apply1, type Op, type Tensor } from '../tensor.ts'
import { zerosLike } from './elementwise.ts'
import { reshape } from './shape.ts'

type None = Record<never, never>

const needIds = (op: string, x: Tensor, ids: Tensor): void => {
  if (ids.dtype === 'float32' || ids.dtype === 'bool')
    throw new ShapeError(`${op}: expected whole numbers to index ${x} with, got ${ids}`)
}

/** Ids for the last axis have the leading axes of x. */
const needLeading = (op: string, x: Tensor, ids: Tensor): void => {
  needIds(op, x, ids)
  if (!sameShape(ids.shape.slice(0, -1), x.shape.slice(0, -1)) || ids.rank !== x.rank)
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

const scatterOp: Op<None> = {
  name: 'scatterAddRows',
  infer: ([table, ids, rows]) => {
    needIds('scatterAddRows', table, ids)
    if (!sameShape(rows.shape, [...ids.shape.slice(0, -1), ...table.shape.slice(1)]))
      throw new ShapeError(
        `scatterAddRows: rows ${showShape(rows.shape)} for ids ${showShape(ids.shape)} and table ${showShape(table.shape)}`,
      )
    return [{ dtype: table.dtype, shape: table.shape }]
  },
  emit: inputs => ({ type: 'ScatterND', attributes: { reduction: 'add' }, inputs: [...inputs] }),
  gradient: ({ inputs: [, ids] }, [dy]) => [dy, null, gather(dy!, reshape(ids, ids.shape.slice(0, -1)))],
}
/** The table with rows added at ids; repeated ids add up. */
export const scatterAddRows = (table: Tensor, ids: Tensor, rows: Tensor): Tensor =>
  apply1(scatterOp, [table, reshape(ids, [...ids.shape, 1]), rows], {})

const pickOp: Op<None> = {
  name: 'pick',
  infer: ([x, ids]) => {
    needLeading('pick', x, ids)
    return [{ dtype: x.dtype, shape: ids.shape }]
  },
  emit: inputs => ({ type: 'GatherElements', attributes: { axis: -1 }, inputs: [...inputs] }),
  gradient: ({ inputs: [x, ids] }, [dy]) => [placeLast(zerosLike(x), ids, dy!), null],
}
/** Elements along the last axis: x [..., V], ids [..., K] give [..., K]. */
export const pick = (x: Tensor, ids: Tensor): Tensor => apply1(pickOp, [x, ids], {})

const placeOp: Op<None> = {
  name: 'placeLast',
  infer: ([x, ids, values]) => {
    needLeading('placeLast', x, ids)
    if (!sameShape(values.shape, ids.shape))
      throw new ShapeError(
        `placeLast: values ${showShape(values.shape)} for ids ${showShape(ids.shape)} of ${showShape(x.shape)}`,
      )
    return [{ dtype: x.dtype, shape: x.shape }]
  },
  emit: inputs => ({
    type: 'ScatterElements',
    attributes: { axis: -1, reduction: 'add' },
    inputs: [...inputs],
  }),
  gradient: ({ inputs: [, ids] }, [dy]) => [dy, null, pick(dy!, ids)],
}
/** x with values added at positions of its last axis. */
export const placeLast = (x: Tensor, ids: Tensor, values: Tensor): Tensor =>
  apply1(placeOp, [x, ids, values], {})
