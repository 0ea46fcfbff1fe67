/** @file The tensors of a GGUF file under their Hugging Face names and in that order of rows, each read when it is asked for. */

import { closeSync, openSync } from 'node:fs'
import { CheckpointError } from '../../util/errors.ts'
import type { TensorFile } from '../safetensors.ts'
import { type GgufHeader, type GgufTensor, readAt } from './header.ts'
import { type GgufArchitecture, pairedRow, toGgufName, toHfName } from './names.ts'

const CHUNK_BYTES = 1 << 20

/** Heads by which rows of queries and keys were reordered. */
export interface HeadCounts {
  query: number
  key: number
}

export class GgufTensors implements TensorFile {
  readonly path: string
  readonly #fd: number
  readonly #architecture: GgufArchitecture
  readonly #heads: HeadCounts
  readonly #tensors: ReadonlyMap<string, GgufTensor>

  /** Opens the file for reading tensors; `close` it after use. */
  constructor(header: GgufHeader, architecture: GgufArchitecture, heads: HeadCounts) {
    this.path = header.path
    this.#architecture = architecture
    this.#heads = heads
    this.#tensors = new Map(
      [...header.tensors].map(([name, tensor]) => [toHfName(architecture, name) ?? name, tensor]),
    )
    if (this.#tensors.size < header.tensors.size)
      throw new CheckpointError(`${header.path}: two tensors have the same name on the hub`, {
        hint: 'the GGUF file is damaged: fetch it again',
      })
    this.#fd = openSync(header.path, 'r')
  }

  /** All but Llama 3's rotary frequencies, which Hugging Face's files have no tensor for. */
  names(): string[] {
    return [...this.#tensors.keys()].filter(name => name !== 'rope_freqs.weight')
  }

  info(name: string): GgufTensor {
    const tensor = this.#tensors.get(name)
    if (tensor) return tensor
    throw new CheckpointError(`${this.path}: no tensor for ${name}`)
  }

  /** One tensor as float32, into `target` when given, row by row: quantized weights never lie in memory as a whole. */
  read(name: string, target?: Float32Array): Float32Array {
    const tensor = this.info(name)
    const columns = tensor.shape.at(-1)!
    const rows = tensor.shape.slice(0, -1).reduce((product, dimension) => product * dimension, 1)
    const values = target ?? new Float32Array(rows * columns)
    if (values.length !== rows * columns)
      throw new CheckpointError(
        `${this.path}: ${name}: expected ${values.length} elements, got ${rows * columns}`,
      )
    const { heads, shift } = toGgufName(this.#architecture, name) ?? { heads: null, shift: 0 }
    const placeOf = heads ? this.#unpaired(name, rows, this.#heads[heads]) : (row: number) => row
    this.#readRows(tensor, rows, (bytes, from, row) =>
      tensor.type.read(bytes, from, values, placeOf(row) * columns, columns / tensor.type.elements),
    )
    if (shift !== 0) for (let i = 0; i < values.length; i++) values[i] -= shift
    return values
  }

  /** Where each row of the file belongs. */
  #unpaired(name: string, rows: number, heads: number): (row: number) => number {
    const headDim = rows / heads
    if (!Number.isInteger(headDim / 2))
      throw new CheckpointError(`${this.path}: ${name}: ${rows} rows are not those of ${heads} heads`)
    const places = new Uint32Array(rows)
    for (let row = 0; row < rows; row++) places[pairedRow(row, headDim)] = row
    return row => places[row]
  }

  #readRows(
    tensor: GgufTensor,
    rows: number,
    use: (bytes: Uint8Array, from: number, row: number) => void,
  ): void {
    const rowBytes = tensor.bytes / rows
    const perChunk = Math.max(1, Math.floor(CHUNK_BYTES / rowBytes))
    const buffer = new Uint8Array(Math.min(perChunk, rows) * rowBytes)
    for (let row = 0; row < rows; row += perChunk) {
      const count = Math.min(perChunk, rows - row)
      const bytes = buffer.subarray(0, count * rowBytes)
      readAt(this.#fd, bytes, tensor.offset + row * rowBytes, this.path)
      for (let i = 0; i < count; i++) use(bytes, i * rowBytes, row + i)
    }
  }

  close(): void {
    closeSync(this.#fd)
  }
}
