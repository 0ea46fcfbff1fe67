/** @file Elementwise operations with NumPy broadcasting. */

import { ShapeError } from '../../util/errors.ts'
import { broadcast, type Shape, sameShape, showShape } from '../dim.ts'
import { apply1, type DType, type Op, scalar, sizes, Tensor } from '../tensor.ts'
import { reduceSum } from './reduce.ts'
import { reshape } from './shape.ts'

type None = Record<never, never>
const NONE: None = {}

/** Sums a gradient over the axes along which its tensor was broadcast. */
export const sumTo = (gradient: Tensor, shape: Shape): Tensor => {
  if (sameShape(gradient.shape, shape)) return gradient
  const lead = gradient.rank - shape.length
  const axes = gradient.shape.flatMap((dim, i) =>
    i < lead || (shape[i - lead] === 1 && dim !== 1) ? [i] : [],
  )
  const summed = axes.length > 0 ? reduceSum(gradient, axes, { keepDims: true }) : gradient
  return lead > 0 ? reshape(summed, shape) : summed
}

const sameDtype = (op: string, a: Tensor, b: Tensor): DType => {
  if (a.dtype !== b.dtype) throw new ShapeError(`${op}: ${a} and ${b} have different types; cast one of them`)
  return a.dtype
}

type BinaryGradient = (a: Tensor, b: Tensor, dy: Tensor, y: Tensor) => readonly [Tensor | null, Tensor | null]

const binary = (name: string, type: string, gradient: BinaryGradient | null, result?: DType): Op<None> => ({
  name,
  infer: ([a, b]) => {
    const dtype = sameDtype(name, a, b)
    return [{ dtype: result ?? dtype, shape: broadcast(name, a.shape, b.shape) }]
  },
  emit: inputs => ({ type, inputs: [...inputs] }),
  ...(gradient && {
    gradient: ({ inputs: [a, b], outputs: [y] }, [dy]) => {
      const [da, db] = gradient(a, b, dy!, y)
      return [da && sumTo(da, a.shape), db && sumTo(db, b.shape)]
    },
  }),
})

const unary = (
  name: string,
  type: string,
  gradient: ((x: Tensor, dy: Tensor, y: Tensor) => Tensor) | null,
): Op<None> => ({
  name,
  infer: ([x]) => [{ dtype: x.dtype, shape: x.shape }],
  emit: inputs => ({ type, inputs: [...inputs] }),
  ...(gradient && {
    gradient: ({ inputs: [x], outputs: [y] }, [dy]) => [gradient(x, dy!, y)],
  }),
})

type Operand = Tensor | number
const tensor = (x: Operand): Tensor => (x instanceof Tensor ? x : scalar(x))
const binaryFunction = (op: Op<None>) => (a: Operand, b: Operand) => apply1(op, [tensor(a), tensor(b)], NONE)
const unaryFunction = (op: Op<None>) => (x: Tensor) => apply1(op, [x], NONE)

export const add = binaryFunction(binary('add', 'Add', (_a, _b, dy) => [dy, dy]))
export const sub = binaryFunction(binary('sub', 'Sub', (_a, _b, dy) => [dy, neg(dy)]))
export const mul = binaryFunction(binary('mul', 'Mul', (a, b, dy) => [mul(dy, b), mul(dy, a)]))
export const div = binaryFunction(
  binary('div', 'Div', (_a, b, dy, y) => [div(dy, b), neg(mul(dy, div(y, b)))]),
)
/** The larger of two; where they are equal the gradient goes to the first. */
export const maximum = binaryFunction(
  binary('maximum', 'Max', (a, b, dy) => [
    mul(dy, toFloat(greaterOrEqual(a, b))),
    mul(dy, toFloat(less(a, b))),
  ]),
)
/** The smaller of two; where they are equal the gradient goes to the first. */
export const minimum = binaryFunction(
  binary('minimum', 'Min', (a, b, dy) => [
    mul(dy, toFloat(lessOrEqual(a, b))),
    mul(dy, toFloat(greater(a, b))),
  ]),
)
export const less = binaryFunction(binary('less', 'Less', null, 'bool'))
export const lessOrEqual = binaryFunction(binary('lessOrEqual', 'LessOrEqual', null, 'bool'))
export const greater = binaryFunction(binary('greater', 'Greater', null, 'bool'))
export const greaterOrEqual = binaryFunction(binary('greaterOrEqual', 'GreaterOrEqual', null, 'bool'))
export const equal = binaryFunction(binary('equal', 'Equal', null, 'bool'))
export const logicalAnd = binaryFunction(binary('logicalAnd', 'And', null))

export const neg = unaryFunction(unary('neg', 'Neg', (_x, dy) => neg(dy)))
export const exp = unaryFunction(unary('exp', 'Exp', (_x, dy, y) => mul(dy, y)))
export const log = unaryFunction(unary('log', 'Log', (x, dy) => div(dy, x)))
export const sqrt = unaryFunction(unary('sqrt', 'Sqrt', (_x, dy, y) => div(mul(dy, 0.5), y)))
export const reciprocal = unaryFunction(
  unary('reciprocal', 'Reciprocal', (_x, dy, y) => neg(mul(dy, mul(y, y)))),
)
export const abs = unaryFunction(unary('abs', 'Abs', (x, dy) => mul(dy, sign(x))))
export const sign = unaryFunction({
  ...unary('sign', 'Sign', null),
  compose: ([x]) => [sub(toFloat(greater(x, 0)), toFloat(less(x, 0)))],
})
export const tanh = unaryFunction(unary('tanh', 'Tanh', (_x, dy, y) => mul(dy, sub(1, mul(y, y)))))
export const sigmoid = unaryFunction(unary('sigmoid', 'Sigmoid', (_x, dy, y) => mul(dy, mul(y, sub(1, y)))))
export const square = (x: Tensor): Tensor => mul(x, x)

const siluOp: Op<None> = {
  name: 'silu',
  infer: ([x]) => [{ dtype: x.dtype, shape: x.shape }],
  // QuickGelu is x*sigmoid(alpha*x): with alpha 1 it is SiLU in a single vectorised kernel.
  emit: inputs => ({
    type: 'QuickGelu',
    domain: 'com.microsoft',
    attributes: { alpha: { float: 1 } },
    inputs: [...inputs],
  }),
  gradient: ({ inputs: [x], outputs: [y] }, [dy]) => {
    const s = sigmoid(x)
    // silu'(x) = s + silu(x) * (1 - s)
    return [mul(dy!, add(s, mul(y, sub(1, s))))]
  },
}
/** x * sigmoid(x), also called swish. */
export const silu = unaryFunction(siluOp)

/** gelu(x) = x * sigmoid(ROOT * x + CUBE * x^3) by the tanh approximation, since (1 + tanh(z)) / 2 = sigmoid(2 z). */
const ROOT = 2 * Math.sqrt(2 / Math.PI)
const CUBE = 0.044715 * ROOT

const geluOp: Op<None> = {
  name: 'gelu',
  infer: ([x]) => [{ dtype: x.dtype, shape: x.shape }],
  emit: inputs => ({ type: 'FastGelu', domain: 'com.microsoft', inputs: [...inputs] }),
  gradient: ({ inputs: [x], outputs: [y] }, [dy]) => {
    const squared = square(x)
    const s = sigmoid(mul(x, add(ROOT, mul(CUBE, squared))))
    const slope = add(ROOT, mul(3 * CUBE, squared))
    // As of silu, times what is within the sigmoid differentiated.
    return [mul(dy!, add(s, mul(mul(y, sub(1, s)), slope)))]
  },
}
/** The tanh approximation of x * Phi(x) (Hendrycks and Gimpel 2016), `gelu_pytorch_tanh`. */
export const gelu = unaryFunction(geluOp)

/** Limits values to [low, high]; no gradient flows where a limit acts. */
export const clamp = (x: Tensor, low: number, high: number): Tensor => minimum(maximum(x, low), high)

const castOp: Op<{ to: DType }> = {
  name: 'cast',
  infer: ([x], { to }) => [{ dtype: to, shape: x.shape }],
  emit: (inputs, { to }) => ({ type: 'Cast', attributes: { to: ONNX_TYPE[to] }, inputs: [...inputs] }),
  gradient: ({ inputs: [x] }, [dy]) => [x.dtype === 'float32' ? dy : null],
}
/** ONNX's TensorProto.DataType numbers. */
export const ONNX_TYPE: Record<DType, number> = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9 }
export const cast = (x: Tensor, to: DType): Tensor => (x.dtype === to ? x : apply1(castOp, [x], { to }))
export const toFloat = (x: Tensor): Tensor => cast(x, 'float32')

const whereOp: Op<None> = {
  name: 'where',
  infer: ([condition, a, b]) => [
    {
      dtype: sameDtype('where', a, b),
      shape: broadcast('where', condition.shape, broadcast('where', a.shape, b.shape)),
    },
  ],
  emit: inputs => ({ type: 'Where', inputs: [...inputs] }),
  gradient: ({ inputs: [condition, a, b] }, [dy]) => [
    null,
    sumTo(where(condition, dy!, 0), a.shape),
    sumTo(where(condition, 0, dy!), b.shape),
  ],
}
/** Elements of a where the condition holds, of b elsewhere. */
export const where = (condition: Tensor, a: Operand, b: Operand): Tensor =>
  apply1(whereOp, [condition, tensor(a), tensor(b)], NONE)

const expandOp: Op<{ shape: Shape }> = {
  name: 'expand',
  infer: ([x], { shape }) => {
    if (!sameShape(broadcast('expand', x.shape, shape), shape))
      throw new ShapeError(`expand: ${showShape(x.shape)} does not expand to ${showShape(shape)}`)
    return [{ dtype: x.dtype, shape }]
  },
  emit: ([x], { shape }) => ({ type: 'Expand', inputs: [x, sizes(shape)] }),
  gradient: ({ inputs: [x] }, [dy]) => [sumTo(dy!, x.shape)],
}
/** Repeats along axes of size 1 until the shape is reached. */
export const expand = (x: Tensor, shape: Shape): Tensor =>
  sameShape(x.shape, shape) ? x : apply1(expandOp, [x], { shape })

export const zerosLike = (x: Tensor): Tensor => expand(scalar(0), x.shape)
