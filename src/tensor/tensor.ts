/** @file Tensors as nodes of a graph: written like arithmetic, differentiated and run later. */

import { ShapeError } from '../util/errors.ts'
import { type Dim, type Shape, showShape } from './dim.ts'

export type DType = 'float32' | 'int32' | 'int64' | 'bool' | 'int8' | 'uint8'

/** Typed arrays that hold a tensor's elements, by dtype; bool is a Uint8Array of 0 and 1. */
export type TensorData = Float32Array | Int32Array | BigInt64Array | Uint8Array | Int8Array

/** Values of an ONNX attribute: integers and floats are distinguished by the key, so floats are wrapped. */
export type Attribute = number | string | readonly number[] | { float: number }

/** One ONNX node: `inputs` names tensors (a Tensor) or is '' for an optional input left out. */
export interface OnnxNode {
  type: string
  domain?: 'com.microsoft'
  attributes?: Record<string, Attribute>
  inputs: (Tensor | '')[]
}

export interface TensorType {
  dtype: DType
  shape: Shape
}

/**
 * An operation in one small definition: the rule for its outputs' shapes, the ONNX node that computes it, and its
 * gradient written with other operations. `null` stands for "no gradient".
 */
export interface Op<A> {
  name: string
  infer(inputs: readonly Tensor[], attributes: A): readonly TensorType[]
  emit(inputs: readonly Tensor[], attributes: A): OnnxNode
  /**
   * The outputs written with other operations, for a provider that has no kernel for the node; null where it has one for these
   * inputs. Absent: every provider has it.
   */
  compose?(inputs: readonly Tensor[], attributes: A): readonly Tensor[] | null
  gradient?(call: Call<A>, dOutputs: readonly (Tensor | null)[]): readonly (Tensor | null)[]
}

/** One use of an op. Ids grow with creation, so sorting by id is a topological order. */
export interface Call<A = unknown> {
  id: number
  op: Op<A>
  attributes: A
  inputs: readonly Tensor[]
  outputs: readonly Tensor[]
}

/** Where a tensor comes from. */
export type TensorSource =
  | { kind: 'input'; name: string }
  | { kind: 'constant'; data: TensorData }
  /** A vector of sizes, filled in at run time from the shapes of the inputs. */
  | { kind: 'sizes'; dims: Shape }
  | { kind: 'call'; call: Call; index: number }
  /** The same values as `of`, with a gradient of its own. */
  | { kind: 'custom'; of: Tensor; rule: CustomRule; index: number }

/** Outputs whose gradient is given by hand instead of through the operations that computed them. */
export interface CustomRule {
  id: number
  inputs: readonly Tensor[]
  outputs: readonly Tensor[]
  gradient(dOutputs: readonly (Tensor | null)[]): readonly (Tensor | null)[]
}

let nextId = 0

export class Tensor implements TensorType {
  readonly id = nextId++
  readonly source: TensorSource
  readonly dtype: DType
  readonly shape: Shape

  constructor(source: TensorSource, dtype: DType, shape: Shape) {
    this.source = source
    this.dtype = dtype
    this.shape = shape
  }

  get rank(): number {
    return this.shape.length
  }

  /** One dimension; negative counts from the end. */
  dim(axis: number): Dim {
    return this.shape[axis < 0 ? axis + this.rank : axis]
  }

  toString(): string {
    return `${this.dtype}${showShape(this.shape)}`
  }
}

/** A value that the caller feeds when the graph runs. Letters in the shape name sizes that are learnt from it. */
export const input = (name: string, shape: Shape, dtype: DType = 'float32'): Tensor =>
  new Tensor({ kind: 'input', name }, dtype, shape)

/** A value fixed in the graph. @throws ShapeError when the number of elements does not fit the shape. */
export const constant = (data: TensorData, shape: readonly number[], dtype: DType = 'float32'): Tensor => {
  const count = shape.reduce((a, b) => a * b, 1)
  if (count !== data.length)
    throw new ShapeError(
      `constant: ${data.length} values for shape ${showShape(shape)}, which holds ${count}`,
    )
  return new Tensor({ kind: 'constant', data }, dtype, shape)
}

/** A float32 scalar. */
export const scalar = (value: number): Tensor => constant(Float32Array.of(value), [])

/** A vector of int64, for shapes and axes. */
export const int64s = (values: readonly number[]): Tensor =>
  constant(BigInt64Array.from(values, BigInt), [values.length], 'int64')

/** A shape as an int64 vector; where it has names, it is filled in at run time. */
export const sizes = (dims: Shape): Tensor =>
  dims.every(dim => typeof dim === 'number')
    ? int64s(dims as number[])
    : new Tensor({ kind: 'sizes', dims }, 'int64', [dims.length])

/** Applies an op. @throws ShapeError from the op's shape rule. */
export const applyOp = <A>(op: Op<A>, inputs: readonly Tensor[], attributes: A): Tensor[] => {
  const types = op.infer(inputs, attributes)
  const call: Call<A> = { id: nextId++, op, attributes, inputs, outputs: [] }
  const outputs = types.map(
    (type, index) => new Tensor({ kind: 'call', call: call as Call, index }, type.dtype, type.shape),
  )
  call.outputs = outputs
  return outputs
}

/** Applies an op that has one output. */
export const apply1 = <A>(op: Op<A>, inputs: readonly Tensor[], attributes: A): Tensor =>
  applyOp(op, inputs, attributes)[0]

/**
 * Gives computed outputs a gradient written by hand, for the cases where the composed one is slower or less exact.
 * `gradient` gets the gradients of the outputs (null where nothing depends on one) and returns one per input.
 */
export const withGradient = (
  outputs: readonly Tensor[],
  inputs: readonly Tensor[],
  gradient: CustomRule['gradient'],
): Tensor[] => {
  const rule: CustomRule = { id: nextId++, inputs, outputs: [], gradient }
  const aliases = outputs.map(
    (of, index) => new Tensor({ kind: 'custom', of, rule, index }, of.dtype, of.shape),
  )
  rule.outputs = aliases
  return aliases
}

/** The same values, but no gradient flows through. */
export const stopGradient = (x: Tensor): Tensor => withGradient([x], [], () => [])[0]

/** The tensor that computes the values: follows aliases made by `withGradient`. */
export const resolve = (x: Tensor): Tensor => (x.source.kind === 'custom' ? resolve(x.source.of) : x)
