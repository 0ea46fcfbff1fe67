/** @file Matrix products, with either side transposed and a constant factor, batched over leading axes. */

import { ShapeError } from '../../util/errors.ts'
import { broadcast, product, type Shape, showShape } from '../dim.ts'
import { apply1, type Op, type Tensor } from '../tensor.ts'
import { mul, sumTo } from './elementwise.ts'
import { reshape, transpose } from './shape.ts'

interface MatmulAttributes {
  transposeA: boolean
  transposeB: boolean
  alpha: number
}

const last2 = (x: Tensor, transposed: boolean) =>
  transposed ? [x.dim(-1), x.dim(-2)] : [x.dim(-2), x.dim(-1)]

const shapeRule = (a: Tensor, b: Tensor, { transposeA, transposeB }: MatmulAttributes): Shape => {
  const show = () =>
    `matmul: ${showShape(a.shape)}${transposeA ? ' transposed' : ''} times ${showShape(b.shape)}${transposeB ? ' transposed' : ''}`
  if (a.rank < 2 || b.rank < 2) throw new ShapeError(`${show()}: both need at least two axes`)
  const [rows, inner] = last2(a, transposeA)
  const [innerB, columns] = last2(b, transposeB)
  if (inner !== innerB) throw new ShapeError(`${show()}: inner sizes ${inner} and ${innerB} differ`)
  return [...broadcast('matmul', a.shape.slice(0, -2), b.shape.slice(0, -2)), rows, columns]
}

/** A product of two matrices, for providers without `FusedMatMul`. */
const gemmOp: Op<MatmulAttributes> = {
  name: 'gemm',
  infer: ([a, b], attributes) => [{ dtype: a.dtype, shape: shapeRule(a, b, attributes) }],
  emit: (inputs, { transposeA, transposeB, alpha }) => ({
    type: 'Gemm',
    attributes: { transA: transposeA ? 1 : 0, transB: transposeB ? 1 : 0, alpha: { float: alpha } },
    inputs: [...inputs],
  }),
}

/** The last two axes in the other order. */
const flipped = (x: Tensor): Tensor => {
  const axes = x.shape.map((_, axis) => axis)
  return transpose(x, [...axes.slice(0, -2), x.rank - 1, x.rank - 2])
}

const composedMatmul: NonNullable<Op<MatmulAttributes>['compose']> = ([a, b], attributes) => {
  const { transposeA, transposeB, alpha } = attributes
  if (!transposeA && !transposeB && alpha === 1) return null
  if (a.rank === 2 && b.rank === 2) return [apply1(gemmOp, [a, b], attributes)]
  const plain = matmul(transposeA ? flipped(a) : a, transposeB ? flipped(b) : b)
  return [alpha === 1 ? plain : mul(plain, alpha)]
}

const matmulOp: Op<MatmulAttributes> = {
  name: 'matmul',
  infer: ([a, b], attributes) => [{ dtype: a.dtype, shape: shapeRule(a, b, attributes) }],
  emit: (inputs, { transposeA, transposeB, alpha }) =>
    !transposeA && !transposeB && alpha === 1
      ? { type: 'MatMul', inputs: [...inputs] }
      : {
          type: 'FusedMatMul',
          domain: 'com.microsoft',
          attributes: { transA: transposeA ? 1 : 0, transB: transposeB ? 1 : 0, alpha: { float: alpha } },
          inputs: [...inputs],
        },
  compose: composedMatmul,
  gradient: ({ inputs: [a, b], attributes: { transposeA, transposeB, alpha } }, [dy]) => {
    const product2 = (x: Tensor, y: Tensor, tx: boolean, ty: boolean) =>
      matmul(x, y, { transposeA: tx, transposeB: ty, alpha })
    const da = transposeA ? product2(b, dy!, transposeB, true) : product2(dy!, b, false, !transposeB)
    return [sumTo(da, a.shape), gradientOfB(a, b, dy!, transposeA, transposeB, alpha)]
  },
}

/** db = a^T dy; when b is one matrix shared by a whole batch, the batch becomes part of the inner size of one product. */
const gradientOfB = (
  a: Tensor,
  b: Tensor,
  dy: Tensor,
  transposeA: boolean,
  transposeB: boolean,
  alpha: number,
): Tensor => {
  const shared = b.rank === 2 && a.rank > 2 && !transposeA
  const flat = (x: Tensor) => (shared ? reshape(x, [product(x.shape.slice(0, -1)), x.dim(-1)]) : x)
  const [left, right] = [flat(a), flat(dy)]
  const db = transposeB
    ? matmul(right, left, { transposeA: true, transposeB: transposeA, alpha })
    : matmul(left, right, { transposeA: !transposeA, alpha })
  return sumTo(db, b.shape)
}

/** alpha * a b, with a or b transposed in their last two axes; leading axes broadcast. */
export const matmul = (a: Tensor, b: Tensor, options: Partial<MatmulAttributes> = {}): Tensor =>
  apply1(matmulOp, [a, b], { transposeA: false, transposeB: false, alpha: 1, ...options })
