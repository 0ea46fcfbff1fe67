/** @file A GGUF file in pieces, to be written one after another: header, then each tensor, converted a mebibyte at a time. */

import { halvesOf } from '../dtype.ts'

/** A value of the header, by its type. */
export type GgufValue =
  | { u32: number }
  | { f32: number }
  | { flag: boolean }
  | { text: string }
  | { texts: readonly string[] }
  | { i32s: readonly number[] }
  | { f32s: readonly number[] }

/** Number formats that are written, with elements and bytes of a block. */
const STORED = {
  F32: { type: 0, elements: 1, bytes: 4 },
  F16: { type: 1, elements: 1, bytes: 2 },
  Q8_0: { type: 8, elements: 32, bytes: 34 },
} as const
export type StoredType = keyof typeof STORED

export interface WrittenTensor {
  name: string
  /** Row-major. */
  shape: readonly number[]
  type: StoredType
  /** Is asked for when its turn has come, and let go after it. */
  read(): Float32Array
}

const ALIGNMENT = 32
const CHUNK_ELEMENTS = 2 ** 18

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
const text = (value: string): Buffer => {
  const bytes = Buffer.from(value)
  return Buffer.concat([u64(bytes.length), bytes])
}
const bytesOf = (array: Int32Array | Float32Array): Buffer =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength)
const array = (type: number, count: number, elements: Buffer): Buffer =>
  Buffer.concat([u32(9), u32(type), u64(count), elements])

const encodeValue = (value: GgufValue): Buffer => {
  if ('u32' in value) return Buffer.concat([u32(4), u32(value.u32)])
  if ('f32' in value) return Buffer.concat([u32(6), bytesOf(Float32Array.of(value.f32))])
  if ('flag' in value) return Buffer.concat([u32(7), Buffer.of(value.flag ? 1 : 0)])
  if ('text' in value) return Buffer.concat([u32(8), text(value.text)])
  if ('texts' in value) return array(8, value.texts.length, Buffer.concat(value.texts.map(text)))
  if ('i32s' in value) return array(5, value.i32s.length, bytesOf(Int32Array.from(value.i32s)))
  return array(6, value.f32s.length, bytesOf(Float32Array.from(value.f32s)))
}

const padded = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
const elementsOf = ({ shape }: WrittenTensor): number =>
  shape.reduce((product, dimension) => product * dimension, 1)
const storedBytes = (tensor: WrittenTensor): number => {
  const { elements, bytes } = STORED[tensor.type]
  return (elementsOf(tensor) / elements) * bytes
}

const encodeHeader = (values: readonly [string, GgufValue][], tensors: readonly WrittenTensor[]): Buffer => {
  const parts = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(values.length)]
  for (const [key, value] of values) parts.push(text(key), encodeValue(value))
  let offset = 0
  for (const tensor of tensors) {
    const { name, shape, type } = tensor
    parts.push(
      text(name),
      u32(shape.length),
      ...shape.toReversed().map(u64),
      u32(STORED[type].type),
      u64(offset),
    )
    offset += padded(storedBytes(tensor))
  }
  const header = Buffer.concat(parts)
  return Buffer.concat([header, Buffer.alloc(padded(header.length) - header.length)])
}

/**
 * The bytes of a file (version 3, little-endian, aligned to 32 bytes).
 * @throws CheckpointError for a weight, or the scale of a block, that a half cannot hold
 */
export function* ggufChunks(
  values: readonly [string, GgufValue][],
  tensors: readonly WrittenTensor[],
): Generator<Uint8Array> {
  yield encodeHeader(values, tensors)
  for (const tensor of tensors) {
    const data = tensor.read()
    for (let start = 0; start < data.length; start += CHUNK_ELEMENTS)
      yield encode(tensor, data.subarray(start, start + CHUNK_ELEMENTS))
    const bytes = storedBytes(tensor)
    if (padded(bytes) > bytes) yield new Uint8Array(padded(bytes) - bytes)
  }
}

const encode = ({ name, type }: WrittenTensor, data: Float32Array): Uint8Array => {
  if (type === 'F32') return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return type === 'Q8_0' ? encodeQ80(name, data) : new Uint8Array(halvesOf(name, data).buffer)
}

const { abs, fround, floor, sign } = Math

/**
 * Blocks of 32: one half as scale, then a byte a weight, rounded away from zero at halves (ggml-org/llama.cpp, ggml/src/ggml-quants.c,
 * quantize_row_q8_0_ref).
 */
const encodeQ80 = (name: string, data: Float32Array): Uint8Array => {
  const blocks = data.length / 32
  const bytes = new Uint8Array(blocks * 34)
  const scales = new Float32Array(blocks)
  for (let block = 0; block < blocks; block++) {
    let largest = 0
    for (let i = 0; i < 32; i++) largest = Math.max(largest, abs(data[block * 32 + i]))
    const scale = fround(largest / 127)
    const inverse = scale === 0 ? 0 : fround(1 / scale)
    scales[block] = scale
    for (let i = 0; i < 32; i++) {
      const scaled = fround(data[block * 32 + i] * inverse)
      bytes[block * 34 + 2 + i] = sign(scaled) * floor(abs(scaled) + 0.5)
    }
  }
  const halves = halvesOf(`${name}, scales of blocks`, scales)
  for (let block = 0; block < blocks; block++) {
    bytes[block * 34] = halves[block] & 255
    bytes[block * 34 + 1] = halves[block] >> 8
  }
  return bytes
}
