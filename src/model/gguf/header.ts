/** @file The header of a GGUF file, checked against the file's size: nothing is allocated for a number that it only claims. */

import { closeSync, fstatSync } from 'node:fs'
import { CheckpointError } from '../../util/errors.ts'
import { assertLittleEndian } from '../dtype.ts'
import { openForReading, readFully } from '../file-reading.ts'
import { BLOCK_TYPES, type BlockType } from './blocks.ts'

/** An array of the header, read when it is asked for: a vocabulary has 260,000 texts. */
interface StoredArray {
  type: number
  count: number
  offset: number
}
type Scalar = string | number | boolean

/** One tensor: `shape` is row-major as everywhere here (GGUF counts the dimensions from the innermost), `offset` from the file's start. */
export interface GgufTensor {
  shape: number[]
  type: BlockType
  offset: number
  bytes: number
}

export interface GgufHeader {
  path: string
  tensors: ReadonlyMap<string, GgufTensor>
  has(key: string): boolean
  /** @throws CheckpointError for another type; null where there is none */
  text(key: string): string | null
  number(key: string): number | null
  flag(key: string): boolean | null
  texts(key: string): string[] | null
  numbers(key: string): number[] | null
}

// ggml/include/gguf.h of ggml-org/llama.cpp, enum gguf_type
const U32 = 4
const STRING = 8
const ARRAY = 9
const SCALAR_BYTES: Readonly<Record<number, number>> = {
  ...{ 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1 },
  ...{ 10: 8, 11: 8, 12: 8 },
}
const readScalar: Readonly<Record<number, (view: DataView, at: number) => number | boolean>> = {
  0: (view, at) => view.getUint8(at),
  1: (view, at) => view.getInt8(at),
  2: (view, at) => view.getUint16(at, true),
  3: (view, at) => view.getInt16(at, true),
  4: (view, at) => view.getUint32(at, true),
  5: (view, at) => view.getInt32(at, true),
  6: (view, at) => view.getFloat32(at, true),
  7: (view, at) => view.getUint8(at) !== 0,
  10: (view, at) => Number(view.getBigUint64(at, true)),
  11: (view, at) => Number(view.getBigInt64(at, true)),
  12: (view, at) => view.getFloat64(at, true),
}

/** Longest key or name (the format's own limit for keys), and longest single text: a template, not a book. */
const MAX_NAME_BYTES = 65_535
const MAX_TEXT_BYTES = 64 * 2 ** 20
const MAX_DEPTH = 4
const MAX_DIMENSIONS = 4
const WINDOW_BYTES = 1 << 20

const damaged = (path: string, message: string): CheckpointError =>
  new CheckpointError(`${path}: ${message}`, {
    hint: 'the GGUF file is damaged or incomplete: fetch it again',
  })

/** Reads forwards through a file by a window of fixed size; every length is compared with what the file has left. */
class Cursor {
  offset: number
  readonly path: string
  readonly #fd: number
  readonly fileBytes: number
  readonly #window = new Uint8Array(WINDOW_BYTES)
  readonly #view = new DataView(this.#window.buffer)
  #start = 0
  #length = 0

  constructor(path: string, fd: number, fileBytes: number, offset = 0) {
    this.path = path
    this.#fd = fd
    this.fileBytes = fileBytes
    this.offset = offset
  }

  /** Moves on by `bytes`. @throws CheckpointError where the file ends before */
  skip(bytes: number, what: string): number {
    const at = this.offset
    if (!(bytes <= this.fileBytes - at))
      throw damaged(
        this.path,
        `${what}: expected ${bytes} bytes from byte ${at} on, but the file ends after ${this.fileBytes}`,
      )
    this.offset += bytes
    return at
  }

  bytes(count: number, what: string): Uint8Array {
    const at = this.skip(count, what)
    if (count > WINDOW_BYTES) return readAt(this.#fd, new Uint8Array(count), at, this.path)
    this.#hold(at, count)
    return this.#window.subarray(at - this.#start, at - this.#start + count)
  }

  /** Has these bytes in the window. */
  #hold(at: number, count: number): void {
    if (at >= this.#start && at + count <= this.#start + this.#length) return
    this.#start = at
    this.#length = Math.min(WINDOW_BYTES, this.fileBytes - at)
    readAt(this.#fd, this.#window.subarray(0, this.#length), at, this.path)
  }

  scalar(type: number, what: string): number | boolean {
    const at = this.skip(SCALAR_BYTES[type], what)
    this.#hold(at, SCALAR_BYTES[type])
    return readScalar[type](this.#view, at - this.#start)
  }

  /** A size or count of 64 bits. */
  size(what: string): number {
    return this.scalar(10, what) as number
  }

  text(what: string, limit = MAX_TEXT_BYTES): string {
    const length = this.size(what)
    if (length > limit)
      throw damaged(this.path, `${what}: expected a text of at most ${limit} bytes, got ${length}`)
    try {
      return utf8.decode(this.bytes(length, what))
    } catch (error) {
      if (error instanceof CheckpointError) throw error
      throw damaged(this.path, `${what}: not UTF-8 text`)
    }
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** As `readFully`. @throws CheckpointError where the file ends before */
export const readAt = (fd: number, bytes: Uint8Array, offset: number, path: string): Uint8Array =>
  readFully(fd, bytes, offset, () => damaged(path, 'the file ended early'))

/** Runs `use` with the open file. */
const withFile = <T>(path: string, use: (fd: number) => T): T => {
  const fd = openForReading(path)
  try {
    return use(fd)
  } finally {
    closeSync(fd)
  }
}

/**
 * Reads a header (versions 2 and 3, little-endian; docs/gguf.md of ggml-org/ggml).
 * @throws CheckpointError for a file that is cut short, has an unknown type, or whose tensors do not follow each other as
 * llama.cpp wants them to
 */
export const readGgufHeader = (path: string): GgufHeader => {
  assertLittleEndian()
  return withFile(path, fd => parse(new Cursor(path, fd, fstatSync(fd).size)))
}

const parse = (cursor: Cursor): GgufHeader => {
  const { path } = cursor
  checkMagic(cursor)
  const tensorCount = cursor.size('tensor count')
  const valueCount = cursor.size('metadata count')
  const values = new Map<string, Scalar | StoredArray>()
  for (let i = 0; i < valueCount; i++) {
    const key = cursor.text(`metadata key ${i}`, MAX_NAME_BYTES)
    if (values.has(key)) throw damaged(path, `${key}: stands there twice`)
    values.set(key, readValue(cursor, key))
  }
  const header = headerOf(path, values)
  const alignment = header.number('general.alignment') ?? 32
  if (!(alignment > 0 && alignment <= 2 ** 20 && (alignment & (alignment - 1)) === 0))
    throw damaged(path, `general.alignment: expected a power of two up to ${2 ** 20}, got ${alignment}`)
  return { ...header, tensors: readTensors(cursor, tensorCount, alignment) }
}

const checkMagic = (cursor: Cursor): void => {
  const { path } = cursor
  const magic = Buffer.from(cursor.bytes(4, 'magic')).toString('latin1')
  if (magic !== 'GGUF')
    throw damaged(path, `expected a GGUF file, which starts with GGUF, got ${JSON.stringify(magic)}`)
  const version = cursor.scalar(U32, 'version') as number
  if (version === 2 || version === 3) return
  const why = version > 0xffff ? 'a big-endian file' : `version ${version}`
  throw new CheckpointError(`${path}: expected GGUF version 2 or 3, little-endian, got ${why}`, {
    hint: "convert the model again with today's llama.cpp",
  })
}

const readValue = (cursor: Cursor, key: string): Scalar | StoredArray => {
  const type = cursor.scalar(U32, key) as number
  if (type === STRING) return cursor.text(key)
  if (type === ARRAY) return skipArray(cursor, key, 1)
  if (type in SCALAR_BYTES) return cursor.scalar(type, key)
  throw damaged(cursor.path, `${key}: unknown type ${type}`)
}

/** Notes where an array lies and passes over it. */
const skipArray = (cursor: Cursor, key: string, depth: number): StoredArray => {
  if (depth > MAX_DEPTH) throw damaged(cursor.path, `${key}: arrays nested deeper than ${MAX_DEPTH}`)
  const type = cursor.scalar(U32, key) as number
  const count = cursor.size(key)
  const { offset } = cursor
  if (type in SCALAR_BYTES) cursor.skip(count * SCALAR_BYTES[type], key)
  else if (type === STRING) for (let i = 0; i < count; i++) cursor.skip(cursor.size(key), key)
  else if (type === ARRAY) for (let i = 0; i < count; i++) skipArray(cursor, key, depth + 1)
  else throw damaged(cursor.path, `${key}: unknown type ${type} of its elements`)
  return { type, count, offset }
}

const headerOf = (
  path: string,
  values: ReadonlyMap<string, Scalar | StoredArray>,
): Omit<GgufHeader, 'tensors'> => {
  const scalar = <T extends Scalar>(key: string, type: 'string' | 'number' | 'boolean'): T | null => {
    const value = values.get(key)
    if (value === undefined) return null
    if (typeof value === type) return value as T
    throw damaged(
      path,
      `${key}: expected a ${type}, got ${typeof value === 'object' ? 'an array' : typeof value}`,
    )
  }
  const array = <T>(
    key: string,
    isOf: (type: number) => boolean,
    read: (cursor: Cursor, type: number) => T,
  ) => {
    const value = values.get(key)
    if (value === undefined) return null
    if (typeof value !== 'object' || !isOf(value.type))
      throw damaged(path, `${key}: expected an array of another type`)
    return withFile(path, fd => {
      const cursor = new Cursor(path, fd, fstatSync(fd).size, value.offset)
      const elements: T[] = []
      for (let i = 0; i < value.count; i++) elements.push(read(cursor, value.type))
      return elements
    })
  }
  return {
    path,
    has: key => values.has(key),
    text: key => scalar<string>(key, 'string'),
    number: key => scalar<number>(key, 'number'),
    flag: key => scalar<boolean>(key, 'boolean'),
    texts: key =>
      array(
        key,
        type => type === STRING,
        cursor => cursor.text(key),
      ),
    numbers: key =>
      array(
        key,
        type => type in SCALAR_BYTES && type !== 7,
        (cursor, type) => cursor.scalar(type, key) as number,
      ),
  }
}

interface Entry {
  shape: number[]
  type: BlockType
  bytes: number
  /** From the start of the data. */
  at: number
}

const readTensors = (cursor: Cursor, count: number, alignment: number): Map<string, GgufTensor> => {
  const { path } = cursor
  const entries = new Map<string, Entry>()
  for (let i = 0; i < count; i++) {
    const name = cursor.text(`name of tensor ${i}`, MAX_NAME_BYTES)
    if (entries.has(name)) throw damaged(path, `${name}: stands there twice`)
    entries.set(name, readEntry(cursor, name))
  }
  const padded = (bytes: number) => Math.ceil(bytes / alignment) * alignment
  const dataStart = padded(cursor.offset)
  const tensors = new Map<string, GgufTensor>()
  let expected = 0
  for (const [name, { at, ...entry }] of entries) {
    if (at !== expected)
      throw damaged(path, `${name}: expected its data at byte ${expected} of the data section, got ${at}`)
    const offset = dataStart + at
    if (offset + entry.bytes > cursor.fileBytes)
      throw damaged(
        path,
        `${name}: needs ${entry.bytes} bytes from byte ${offset} on, but the file ends after ${cursor.fileBytes}`,
      )
    tensors.set(name, { ...entry, offset })
    expected = padded(at + entry.bytes)
  }
  return tensors
}

const readEntry = (cursor: Cursor, name: string): Entry => {
  const { path } = cursor
  const dimensions = cursor.scalar(U32, name) as number
  if (dimensions < 1 || dimensions > MAX_DIMENSIONS)
    throw damaged(path, `${name}: expected 1 to ${MAX_DIMENSIONS} dimensions, got ${dimensions}`)
  const shape = Array.from({ length: dimensions }, () => cursor.size(name)).reverse()
  const type = BLOCK_TYPES.get(cursor.scalar(U32, name) as number)
  const at = cursor.size(name)
  if (!type)
    throw new CheckpointError(`${path}: ${name}: its number format is not one that can be read here`, {
      hint: `use a file of ${[...BLOCK_TYPES.values()].map(known => known.name).join(', ')}`,
    })
  const elements = shape.reduce((product, dimension) => product * dimension, 1)
  if (!Number.isSafeInteger(elements) || elements === 0)
    throw damaged(path, `${name}: shape [${shape.join(', ')}] has no usable number of elements`)
  if (shape.at(-1)! % type.elements !== 0)
    throw damaged(
      path,
      `${name}: expected rows of a multiple of ${type.elements} elements for ${type.name}, got ${shape.at(-1)}`,
    )
  return { shape, type, bytes: (elements / type.elements) * type.bytes, at }
}
