/** @file What the runtime computes after what, where the order decides how much it holds at a time. */

import { product } from '../dim.ts'
import type { Tensor } from '../tensor.ts'
import { add, mul } from './elementwise.ts'
import { reshape, slice } from './shape.ts'

/** Zero that is known only when all of the tensors are: one element of each, times 0. NaN where such an element is none. */
const zeroAfter = (tensors: readonly Tensor[]): Tensor =>
  tensors
    .map(x => mul(slice(reshape(x, [product(x.shape)]), 0, 0, 1), 0))
    .reduce((sum, zero) => add(sum, zero))

/** The same values, which the runtime cannot have before the others, and so does not compute before they are there. */
export const after = (x: Tensor, others: readonly Tensor[]): Tensor =>
  others.length === 0 ? x : add(x, reshape(zeroAfter(others), x.rank === 0 ? [] : [1]))
