/** @file Sums, means and maxima over axes. */

import { ShapeError } from '../../util/errors.ts'
import { product, type Shape, showShape } from '../dim.ts'
import { apply1, int64s, type Op, sizes, type Tensor } from '../tensor.ts'
import { cast, div, equal, expand, mul, toFloat } from './elementwise.ts'
import { reshape } from './shape.ts'

interface ReduceAttributes {
  axes: readonly number[]
  keepDims: boolean
}

const reducedShape = (x: Tensor, { axes, keepDims }: ReduceAttributes): Shape =>
  x.shape.flatMap((dim, i) => (axes.includes(i) ? (keepDims ? [1] : []) : [dim]))

/** The reduced tensor with its reduced axes back as size 1, so that it broadcasts against x. */
const restoreAxes = (reduced: Tensor, x: Tensor, axes: readonly number[]): Tensor =>
  reshape(
    reduced,
    x.shape.map((dim, i) => (axes.includes(i) ? 1 : dim)),
  )

const reduction = (
  name: string,
  type: string,
  gradient: Op<ReduceAttributes>['gradient'],
): Op<ReduceAttributes> => ({
  name,
  infer: ([x], attributes) => {
    if (attributes.axes.some(axis => axis < 0 || axis >= x.rank))
      throw new ShapeError(`${name}: axes [${attributes.axes}] of ${showShape(x.shape)}`)
    return [{ dtype: x.dtype, shape: reducedShape(x, attributes) }]
  },
  emit: ([x], { axes, keepDims }) => ({
    type,
    attributes: { keepdims: keepDims ? 1 : 0 },
    inputs: [x, int64s(axes)],
  }),
  gradient,
})

const sumOp = reduction('reduceSum', 'ReduceSum', ({ inputs: [x], attributes: { axes } }, [dy]) => [
  expand(restoreAxes(dy!, x, axes), x.shape),
])

const maxOp = reduction(
  'reduceMax',
  'ReduceMax',
  ({ inputs: [x], outputs: [y], attributes: { axes } }, [dy]) => {
    const isMax = toFloat(equal(x, restoreAxes(y, x, axes)))
    // Equal maxima share the gradient.
    const ties = reduceSum(isMax, axes, { keepDims: true })
    return [mul(isMax, div(restoreAxes(dy!, x, axes), ties))]
  },
)

interface ReduceOptions {
  keepDims?: boolean
}

const positive = (x: Tensor, axes: readonly number[]) => axes.map(axis => (axis < 0 ? axis + x.rank : axis))
const allAxes = (x: Tensor) => x.shape.map((_, i) => i)

/** Sum over axes (all by default). */
export const reduceSum = (
  x: Tensor,
  axes: readonly number[] = allAxes(x),
  options: ReduceOptions = {},
): Tensor => apply1(sumOp, [x], { axes: positive(x, axes), keepDims: options.keepDims ?? false })

/** Maximum over axes (all by default). */
export const reduceMax = (
  x: Tensor,
  axes: readonly number[] = allAxes(x),
  options: ReduceOptions = {},
): Tensor => apply1(maxOp, [x], { axes: positive(x, axes), keepDims: options.keepDims ?? false })

/** Mean over axes (all by default); the count may be known only at run time. */
export const reduceMean = (
  x: Tensor,
  axes: readonly number[] = allAxes(x),
  options: ReduceOptions = {},
): Tensor => {
  const count = product(positive(x, axes).map(axis => x.shape[axis]))
  const total = reduceSum(x, axes, options)
  return div(total, typeof count === 'number' ? count : reshape(cast(sizes([count]), 'float32'), []))
}
