/** @file Safetensors files: checked headers, tensors read on demand as float32, whole files written atomically. */

import { closeSync, fstatSync } from 'node:fs'
import { z } from 'zod'
import { writeFileAtomic } from '../util/atomic.ts'
import { CheckpointError } from '../util/errors.ts'
import {
  assertLittleEndian,
  bfloat16ToFloat32,
  float16ToFloat32,
  float32ToBfloat16,
  halvesOf,
  type WeightDtype,
} from './dtype.ts'
import { openForReading, readFully } from './file-reading.ts'

/** Tensors by name; `data` holds the product of `shape` elements, row-major. */
export type NamedTensors = Map<string, { shape: number[]; data: Float32Array }>

/** An open file of tensors, of any format, whose values are read as float32. */
export interface TensorFile {
  readonly path: string
  /** Tensors in the order of the file. */
  names(): string[]
  /** @throws CheckpointError where there is none of that name */
  info(name: string): { shape: number[] }
  /** One tensor, into `target` when given. @throws CheckpointError for another size, or a file cut short meanwhile */
  read(name: string, target?: Float32Array): Float32Array
  close(): void
}

/** Why a file is refused, by the names that the safetensors library gives (huggingface/safetensors, tensor.rs). */
export type SafetensorsErrorCode =
  | 'HeaderTooSmall'
  | 'HeaderTooLarge'
  | 'InvalidHeaderLength'
  | 'InvalidHeader'
  | 'InvalidHeaderDeserialization'
  | 'InvalidOffset'
  | 'ValidationOverflow'
  | 'TensorInvalidInfo'
  | 'MetadataIncompleteBuffer'
  | 'TensorNotFound'
  | 'UnsupportedDtype'

/** A safetensors file that is broken, or a tensor in it that cannot be used. */
export class SafetensorsError extends CheckpointError {
  readonly code: SafetensorsErrorCode

  constructor(code: SafetensorsErrorCode, path: string, message: string, hint?: string) {
    super(`${path}: ${message} (${code})`, { hint })
    this.code = code
  }
}

const dtypeBytes: Readonly<Record<string, number>> = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  F8_E4M3: 1,
  F8_E5M2: 1,
  F8_E8M0: 1,
  I16: 2,
  U16: 2,
  F16: 2,
  BF16: 2,
  I32: 4,
  U32: 4,
  F32: 4,
  F64: 8,
  I64: 8,
  U64: 8,
  C64: 8,
}

/** One tensor's entry: offsets are bytes from the start of the data section. */
export interface TensorInfo {
  dtype: string
  shape: number[]
  start: number
  end: number
}

/** A header that passed every check; `dataStart` is the data section's byte offset in the file. */
export interface SafetensorsHeader {
  tensors: Map<string, TensorInfo>
  metadata: Record<string, string>
  dataStart: number
}

const lengthBytes = 8
const maxHeaderBytes = 100_000_000
const redownload = 'the file is damaged or incomplete: fetch or save it again'

const count = z.number().nonnegative().refine(Number.isInteger, 'expected a whole number')
const entrySchema = z.strictObject({
  dtype: z.string().refine(name => name in dtypeBytes, 'unknown dtype'),
  shape: z.array(count),
  data_offsets: z.tuple([count, count]),
})
const headerSchema = z.record(z.string(), z.unknown())
const metadataSchema = z.record(z.string(), z.string())

/**
 * Reads and checks a header. `read` returns up to `length` bytes at `offset`; `fileBytes` is the whole file's size.
 * The order of the checks follows the reference implementation, so that a broken file gets the same error name.
 * @throws SafetensorsError
 */
const parseSafetensorsHeader = (
  read: (offset: number, length: number) => Uint8Array,
  fileBytes: number,
  path: string,
): SafetensorsHeader => {
  const headerBytes = readHeaderLength(read, fileBytes, path)
  const json = parseHeaderJson(read(lengthBytes, headerBytes), path)
  const { __metadata__: rawMetadata, ...entries } = json
  const metadata = checkShape(metadataSchema, rawMetadata ?? {}, '__metadata__', path)
  const tensors = new Map<string, TensorInfo>()
  for (const [name, entry] of Object.entries(entries)) tensors.set(name, toTensorInfo(name, entry, path))
  const dataStart = lengthBytes + headerBytes
  checkLayout(tensors, fileBytes - dataStart, path)
  return { tensors, metadata, dataStart }
}

const readHeaderLength = (
  read: (offset: number, length: number) => Uint8Array,
  fileBytes: number,
  path: string,
): number => {
  if (fileBytes < lengthBytes)
    throw new SafetensorsError(
      'HeaderTooSmall',
      path,
      `expected at least 8 bytes, got ${fileBytes}`,
      redownload,
    )
  const prefix = read(0, lengthBytes)
  const view = new DataView(prefix.buffer, prefix.byteOffset, lengthBytes)
  const length = Number(view.getBigUint64(0, true))
  if (length > maxHeaderBytes)
    throw new SafetensorsError(
      'HeaderTooLarge',
      path,
      `header of ${length} bytes, at most ${maxHeaderBytes} are allowed`,
      'this is probably not a safetensors file',
    )
  if (lengthBytes + length > fileBytes)
    throw new SafetensorsError(
      'InvalidHeaderLength',
      path,
      `header of ${length} bytes announced, but only ${fileBytes - lengthBytes} bytes follow`,
      redownload,
    )
  return length
}

const parseHeaderJson = (bytes: Uint8Array, path: string): Record<string, unknown> => {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new SafetensorsError('InvalidHeader', path, 'the header is not UTF-8 text', redownload)
  }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new SafetensorsError(
      'InvalidHeaderDeserialization',
      path,
      `the header is not JSON: ${(error as Error).message}`,
      redownload,
    )
  }
  return checkShape(headerSchema, json, 'header', path)
}

const checkShape = <S extends z.ZodType>(
  schema: S,
  value: unknown,
  what: string,
  path: string,
): z.output<S> => {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const place = [what, ...issue.path].join('.')
  throw new SafetensorsError('InvalidHeaderDeserialization', path, `${place}: ${issue.message}`, redownload)
}

const toTensorInfo = (name: string, entry: unknown, path: string): TensorInfo => {
  const { dtype, shape, data_offsets } = checkShape(entrySchema, entry, name, path)
  return { dtype, shape, start: data_offsets[0], end: data_offsets[1] }
}

/** The tensors must tile the data section: no hole, no overlap, nothing left over. */
const checkLayout = (tensors: Map<string, TensorInfo>, dataBytes: number, path: string) => {
  let position = 0
  const ordered = [...tensors].sort(([, a], [, b]) => a.start - b.start || a.end - b.end)
  for (const [name, info] of ordered) {
    if (info.start !== position || info.end < info.start)
      throw new SafetensorsError(
        'InvalidOffset',
        path,
        `${name}: expected data from byte ${position} on, got [${info.start}, ${info.end}]`,
        redownload,
      )
    checkByteCount(name, info, path)
    position = info.end
  }
  if (position !== dataBytes)
    throw new SafetensorsError(
      'MetadataIncompleteBuffer',
      path,
      `the header describes ${position} bytes of data, the file holds ${dataBytes}`,
      redownload,
    )
}

const checkByteCount = (name: string, info: TensorInfo, path: string) => {
  const shape = `[${info.shape.join(', ')}]`
  let bytes = dtypeBytes[info.dtype]
  for (const dimension of info.shape) bytes *= dimension
  // Beyond 2^53 sizes are no longer exact, and no file is that long: the same verdict as an overflow of 64 bits.
  if (!Number.isSafeInteger(bytes))
    throw new SafetensorsError('ValidationOverflow', path, `${name}: shape ${shape} overflows`, redownload)
  if (bytes !== info.end - info.start)
    throw new SafetensorsError(
      'TensorInvalidInfo',
      path,
      `${name}: shape ${shape} of ${info.dtype} needs ${bytes} bytes, the offsets span ${info.end - info.start}`,
      redownload,
    )
}

const chunkBytes = 1 << 20

/** An open safetensors file. Only the header is in memory; each tensor is read when it is asked for. */
export class SafetensorsFile implements TensorFile {
  readonly path: string
  readonly header: SafetensorsHeader
  readonly #fd: number

  private constructor(path: string, fd: number, header: SafetensorsHeader) {
    this.path = path
    this.#fd = fd
    this.header = header
  }

  /**
   * Opens a file and checks its header; `close` it after use.
   * @throws CheckpointError when it cannot be opened, SafetensorsError when it is broken.
   */
  static open(path: string): SafetensorsFile {
    assertLittleEndian()
    const fd = openForReading(path)
    try {
      const read = (offset: number, length: number) => fill(fd, new Uint8Array(length), offset, path)
      return new SafetensorsFile(path, fd, parseSafetensorsHeader(read, fstatSync(fd).size, path))
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }

  /** Tensor names, in the order of the header. */
  names(): string[] {
    return [...this.header.tensors.keys()]
  }

  /** @throws SafetensorsError (TensorNotFound) */
  info(name: string): TensorInfo {
    const info = this.header.tensors.get(name)
    if (info) return info
    throw new SafetensorsError('TensorNotFound', this.path, `no tensor named ${name}`)
  }

  /**
   * Reads one tensor as float32 (stored as F32, F16, BF16 or F64), into `target` when given.
   * F32 goes from the file straight into the array; the others through a buffer of 1 MiB.
   * @throws SafetensorsError for an unknown name, another dtype, or a file cut short meanwhile.
   */
  read(name: string, target?: Float32Array): Float32Array {
    const info = this.info(name)
    const length = (info.end - info.start) / dtypeBytes[info.dtype]
    const values = target ?? new Float32Array(length)
    if (values.length !== length)
      throw new CheckpointError(`${this.path}: ${name}: expected ${values.length} elements, got ${length}`)
    const position = this.header.dataStart + info.start
    if (info.dtype === 'F32')
      fill(this.#fd, new Uint8Array(values.buffer, values.byteOffset, length * 4), position, this.path)
    else this.#readConverted(name, info, values, position)
    return values
  }

  #readConverted(name: string, info: TensorInfo, values: Float32Array, position: number) {
    const convert = converters[info.dtype]
    if (!convert)
      throw new SafetensorsError(
        'UnsupportedDtype',
        this.path,
        `${name}: expected F32, F16, BF16 or F64, got ${info.dtype}`,
        'quantized and integer weights cannot be trained; use the full-precision checkpoint',
      )
    const width = dtypeBytes[info.dtype]
    const buffer = new Uint8Array(Math.min(chunkBytes, values.length * width))
    for (let done = 0; done < values.length; ) {
      const count = Math.min(buffer.length / width, values.length - done)
      const bytes = buffer.subarray(0, count * width)
      fill(this.#fd, bytes, position + done * width, this.path)
      convert(bytes, values.subarray(done, done + count))
      done += count
    }
  }

  close(): void {
    closeSync(this.#fd)
  }
}

const converters: Readonly<Record<string, (bytes: Uint8Array, target: Float32Array) => void>> = {
  F16: (bytes, target) => float16ToFloat32(new Uint16Array(bytes.buffer, 0, bytes.length / 2), target),
  BF16: (bytes, target) => bfloat16ToFloat32(new Uint16Array(bytes.buffer, 0, bytes.length / 2), target),
  F64: (bytes, target) => target.set(new Float64Array(bytes.buffer, 0, bytes.length / 8)),
}

const fill = (fd: number, bytes: Uint8Array, position: number, path: string): Uint8Array =>
  readFully(
    fd,
    bytes,
    position,
    () => new SafetensorsError('MetadataIncompleteBuffer', path, 'the file ended early', redownload),
  )

/** Reads a whole file as float32 tensors, in the order of its header. */
export const readSafetensors = (path: string): NamedTensors => {
  const file = SafetensorsFile.open(path)
  try {
    return new Map(file.names().map(name => [name, { shape: file.info(name).shape, data: file.read(name) }]))
  } finally {
    file.close()
  }
}

const storedNames = { float32: 'F32', float16: 'F16', bfloat16: 'BF16' } as const

/**
 * Writes tensors sorted by name, so that the same tensors always give the same bytes; the header is padded with
 * spaces until the data starts at a multiple of 8 bytes. Float32 is written from the given arrays without a copy.
 * The default metadata is what the transformers library expects to find.
 * @throws CheckpointError for a shape that does not fit, and a number that float16 does not hold where that is asked for
 */
export const writeSafetensors = (
  path: string,
  tensors: NamedTensors,
  options: { dtype?: WeightDtype; metadata?: Record<string, string> } = {},
): void => {
  assertLittleEndian()
  const { dtype = 'float32', metadata = { format: 'pt' } } = options
  const ordered = [...tensors].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const header = encodeHeader(ordered, storedNames[dtype], metadata, path)
  writeFileAtomic(path, [header, ...ordered.map(([name, { data }]) => encodeData(name, data, dtype))])
}

const encodeHeader = (
  ordered: [string, { shape: number[]; data: Float32Array }][],
  dtype: 'F32' | 'F16' | 'BF16',
  metadata: Record<string, string>,
  path: string,
): Uint8Array => {
  const entries: [string, unknown][] = [['__metadata__', metadata]]
  let position = 0
  for (const [name, { shape, data }] of ordered) {
    const elements = shape.reduce((product, dimension) => product * dimension, 1)
    if (elements !== data.length)
      throw new CheckpointError(
        `${path}: ${name}: shape [${shape.join(', ')}] needs ${elements} elements, got ${data.length}`,
      )
    const end = position + elements * dtypeBytes[dtype]
    entries.push([name, { dtype, shape, data_offsets: [position, end] }])
    position = end
  }
  const json = Buffer.from(JSON.stringify(Object.fromEntries(entries)))
  const padded = Math.ceil(json.length / 8) * 8
  const header = Buffer.alloc(lengthBytes + padded, ' ')
  header.writeBigUInt64LE(BigInt(padded))
  json.copy(header, lengthBytes)
  return header
}

const encodeData = (name: string, data: Float32Array, dtype: WeightDtype): Uint8Array => {
  if (dtype === 'float32') return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  if (dtype === 'float16') return new Uint8Array(halvesOf(name, data).buffer)
  const halves = new Uint16Array(data.length)
  float32ToBfloat16(data, halves)
  return new Uint8Array(halves.buffer)
}
