/** @file Writes a graph of tensors as an ONNX model. Field numbers are those of onnx.proto (ONNX 1.17, IR version 10). */

import { MessageWriter } from '../util/protobuf.ts'
import { type Shape, showShape } from './dim.ts'
import { ONNX_TYPE } from './ops/elementwise.ts'
import {
  type Attribute,
  type Call,
  type DType,
  type OnnxNode,
  resolve,
  type Tensor,
  type TensorData,
} from './tensor.ts'

const OPSET = 20

/** A value that the host has to feed: declared by the caller, or a vector of sizes worked out from the other inputs. */
export interface ModelInput {
  name: string
  dtype: DType
  shape: Shape
  sizes?: Shape
}

export interface OnnxModel {
  bytes: Uint8Array
  /** Values of large constants, which the runtime reads where they are: a copy in `bytes` would be one more, of 2 GB at most. */
  external: readonly { path: string; data: Uint8Array }[]
  inputs: readonly ModelInput[]
  outputs: readonly { name: string; dtype: DType; shape: Shape }[]
  /** Nodes by operator type, for messages and tests. */
  nodeCounts: Readonly<Record<string, number>>
  /** Kinds of nodes, each once: domain, operator and types, such as `Gather(float32,int64)->float32`. */
  signatures: readonly string[]
}

type Fill = (message: MessageWriter) => void

const attributeMessage =
  (name: string, value: Attribute): Fill =>
  message => {
    message.text(1, name)
    if (typeof value === 'number') message.integer(3, value).integer(20, 2)
    else if (typeof value === 'string') message.text(4, value).integer(20, 3)
    else if (Array.isArray(value)) {
      for (const item of value as readonly number[]) message.integer(8, item)
      message.integer(20, 7)
    } else message.float32(2, (value as { float: number }).float).integer(20, 1)
  }

/** Constants from this many bytes on are not written into the model. */
const EXTERNAL_BYTES = 2 ** 16

const bytesOf = (data: TensorData): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength)

const isExternal = (data: TensorData): boolean => data.byteLength >= EXTERNAL_BYTES

const tensorMessage =
  (name: string, data: TensorData, shape: Shape, dtype: DType): Fill =>
  message => {
    for (const size of shape) message.integer(1, size as number)
    message.integer(2, ONNX_TYPE[dtype]).text(8, name)
    if (isExternal(data)) message.message(13, entry => entry.text(1, 'location').text(2, name)).integer(14, 1)
    else message.data(9, bytesOf(data))
  }

const valueInfo =
  (name: string, dtype: DType, shape: Shape): Fill =>
  message =>
    message.text(1, name).message(2, type =>
      type.message(1, tensorType =>
        tensorType.integer(1, ONNX_TYPE[dtype]).message(2, dims => {
          for (const size of shape)
            dims.message(1, dim => (typeof size === 'number' ? dim.integer(1, size) : dim.text(2, size)))
        }),
      ),
    )

/** All calls that the outputs need and that are not known already, in topological order. */
export const callsOf = (outputs: readonly Tensor[], isKnown = (_: Tensor) => false): Call[] => {
  const calls = new Map<number, Call>()
  const stack = outputs.map(resolve)
  while (stack.length > 0) {
    const tensor = stack.pop()!
    const { source } = tensor
    if (source.kind !== 'call' || calls.has(source.call.id) || isKnown(tensor)) continue
    calls.set(source.call.id, source.call)
    stack.push(...source.call.inputs.map(resolve))
  }
  return [...calls.values()].sort((a, b) => a.id - b.id)
}

/** Products differ in what lies transposed, and each way has kernels of its own. */
const variantOf = ({ transA, transB }: Readonly<Record<string, Attribute>>): string =>
  transA || transB ? `[${transA ? 'a' : ''}${transB ? 'b' : ''} transposed]` : ''

/** See `OnnxModel.signatures`. */
const signatureOf = (
  { type, domain, attributes = {}, inputs }: OnnxNode,
  outputs: readonly Tensor[],
): string => {
  const types = inputs.map(x => (x === '' ? '' : x.dtype)).join()
  const results = outputs.map(({ dtype }) => dtype)
  // However many parts: a split into three is a split into two.
  const shown = type === 'Split' || type === 'Concat' ? [...new Set(types.split(','))].join() : types
  return `${domain ? `${domain}.` : ''}${type}${variantOf(attributes)}(${shown})->${[...new Set(results)].join()}`
}

/** Names tensors and collects the parts of a GraphProto; equal calls are computed once. */
class GraphWriter {
  readonly graph = new MessageWriter()
  readonly inputs: ModelInput[] = []
  readonly nodeCounts: Record<string, number> = {}
  readonly signatures = new Set<string>()
  readonly external: { path: string; data: Uint8Array }[] = []
  readonly #names = new Map<Tensor, string>()
  readonly #interned = new Map<string, string>()
  readonly #inputOf = new Map<string, Tensor>()
  readonly #composed: boolean

  constructor(composed: boolean) {
    this.#composed = composed
  }

  /** The name of a tensor; constants, inputs and sizes are added to the graph when first asked for. */
  name(x: Tensor): string {
    const tensor = resolve(x)
    const known = this.#names.get(tensor)
    if (known !== undefined) return known
    const name = this.#addLeaf(tensor)
    this.#names.set(tensor, name)
    return name
  }

  #addLeaf(tensor: Tensor): string {
    const { source } = tensor
    if (source.kind === 'input') return this.#addInput(source.name, tensor)
    if (source.kind === 'constant') return this.#addConstant(tensor, source.data)
    if (source.kind === 'sizes') return this.#addSizes(tensor, source.dims)
    throw new Error(`onnx: tensor ${tensor} was used before its node was written`)
  }

  #addInput(name: string, tensor: Tensor): string {
    const previous = this.#inputOf.get(name)
    if (previous) throw new Error(`onnx: two inputs are called ${name}: ${previous} and ${tensor}`)
    this.#inputOf.set(name, tensor)
    this.inputs.push({ name: `in.${name}`, dtype: tensor.dtype, shape: tensor.shape })
    this.graph.message(11, valueInfo(`in.${name}`, tensor.dtype, tensor.shape))
    return `in.${name}`
  }

  #addConstant(tensor: Tensor, data: TensorData): string {
    // Generated names carry prefixes: a name shared by an input and an initialiser is only a warning, and wrong numbers.
    const key =
      data.length <= 64 ? `${tensor.dtype}${showShape(tensor.shape)}:${data.join(',')}` : `#${tensor.id}`
    const known = this.#interned.get(key)
    if (known !== undefined) return known
    const name = `const.${tensor.id}`
    this.#interned.set(key, name)
    this.graph.message(5, tensorMessage(name, data, tensor.shape, tensor.dtype))
    if (isExternal(data)) this.external.push({ path: name, data: bytesOf(data) })
    return name
  }

  #addSizes(tensor: Tensor, dims: Shape): string {
    const name = `sizes.${dims.join(',')}`
    if (!this.#interned.has(name)) {
      this.#interned.set(name, name)
      this.inputs.push({ name, dtype: 'int64', shape: tensor.shape, sizes: dims })
      this.graph.message(11, valueInfo(name, 'int64', tensor.shape))
    }
    return name
  }

  /** Writes all that the outputs need. */
  calls(outputs: readonly Tensor[]): void {
    for (const call of callsOf(outputs, x => this.#names.has(x))) this.#call(call)
  }

  /** Writes the node of a call, unless an equal one is there, or what it is composed of. */
  #call(call: Call): void {
    const parts = this.#composed ? call.op.compose?.(call.inputs.map(resolve), call.attributes) : null
    if (!parts) {
      this.#emit(call)
      return
    }
    this.calls(parts)
    call.outputs.forEach((output, i) => {
      this.#names.set(output, this.name(parts[i]))
    })
  }

  #emit(call: Call): void {
    const node = call.op.emit(call.inputs.map(resolve), call.attributes)
    const inputs = node.inputs.map(x => (x === '' ? '' : this.name(x)))
    const attributes = Object.entries(node.attributes ?? {})
    const key = `${node.type}(${inputs.join(';')})${JSON.stringify(attributes)}`
    const outputs = call.outputs.map((_, i) => this.#interned.get(`${key}.${i}`) ?? `t.${call.id}.${i}`)
    call.outputs.forEach((output, i) => {
      this.#names.set(output, outputs[i])
    })
    if (this.#interned.has(`${key}.0`)) return
    outputs.forEach((name, i) => {
      this.#interned.set(`${key}.${i}`, name)
    })
    this.signatures.add(signatureOf(node, call.outputs))
    this.#writeNode(node.type, node.domain, `${call.op.name}.${call.id}`, inputs, outputs, attributes)
    // With the names of sizes the runtime sees which memory can be used again. It gives sizes that it cannot infer a name each, and
    // then looks through all that is free for every result: 23 to 33 s in place of 3 for a training graph of 30 layers.
    call.outputs.forEach(({ dtype, shape }, i) => {
      this.graph.message(13, valueInfo(outputs[i], dtype, shape))
    })
  }

  #writeNode(
    type: string,
    domain: string | undefined,
    name: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes: readonly [string, Attribute][],
  ): void {
    this.nodeCounts[type] = (this.nodeCounts[type] ?? 0) + 1
    this.graph.message(1, message => {
      for (const x of inputs) message.text(1, x)
      for (const y of outputs) message.text(2, y)
      message.text(3, name).text(4, type)
      for (const [key, value] of attributes) message.message(5, attributeMessage(key, value))
      if (domain) message.text(7, domain)
    })
  }

  /** Gives a result its public name. */
  output(name: string, x: Tensor): void {
    this.#writeNode('Identity', undefined, `output.${name}`, [this.name(x)], [`out.${name}`], [])
    this.graph.message(12, valueInfo(`out.${name}`, x.dtype, x.shape))
  }
}

/**
 * Emits the ONNX model that computes the named outputs.
 * @param composed writes operations that not every provider has a kernel for with others (`Op.compose`)
 */
export const toOnnx = (outputs: Readonly<Record<string, Tensor>>, composed = false): OnnxModel => {
  const writer = new GraphWriter(composed)
  writer.calls(Object.values(outputs))
  for (const [name, tensor] of Object.entries(outputs)) writer.output(name, tensor)
  writer.graph.text(2, 'gradus')
  const opset = (domain: string, version: number) => (set: MessageWriter) =>
    set.text(1, domain).integer(2, version)
  const model = new MessageWriter()
    .integer(1, 10)
    .text(2, 'gradus')
    .data(7, writer.graph.finish())
    .message(8, opset('', OPSET))
    .message(8, opset('com.microsoft', 1))
  return {
    bytes: model.finish(),
    external: writer.external,
    inputs: writer.inputs,
    outputs: Object.entries(outputs).map(([name, { dtype, shape }]) => ({ name, dtype, shape })),
    nodeCounts: writer.nodeCounts,
    signatures: [...writer.signatures].sort(),
  }
}
