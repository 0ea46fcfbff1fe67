/**
 * @file A search index as one file: a prelude of 64 bytes, the passages as JSON Lines, the flat arrays, and at the end a table of
 * contents in JSON with the size and SHA-256 of each part. It is written beside its place and renamed when it is whole.
 */

import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { endianness } from 'node:os'
import { dirname } from 'node:path'
import { z } from 'zod'
import { sweepOnce, syncFolder, temporaryPath } from '../util/atomic.ts'
import { DataError, type GradusError } from '../util/errors.ts'
import { fileFailure, withFile } from '../util/file-failure.ts'

const MAGIC = 'GRADUSIX'
const INDEX_VERSION = 1
const PRELUDE_BYTES = 64
/** Arrays of four and eight bytes begin at multiples of this. */
const ALIGNMENT = 8
const BUFFER_BYTES = 1 << 20
/** Bytes that are read or written at once: some systems take no more than two gigabytes. */
const CHUNK_BYTES = 64 * 1024 * 1024
/** A table of contents is a few hundred bytes. */
const MAX_TABLE_BYTES = 1 << 20

const PARTS = ['documents', 'offsets', 'lengths', 'terms', 'starts', 'passages', 'counts'] as const
export type IndexPart = (typeof PARTS)[number]

const size = z.int().nonnegative()
const partSchema = z.strictObject({ offset: size, bytes: size, sha256: z.string().regex(/^[0-9a-f]{64}$/) })
const tableSchema = z.strictObject({
  endianness: z.enum(['LE', 'BE']),
  /** Passages and the documents that they are parts of. */
  passages: size,
  documents: size,
  maxChars: z.int().positive(),
  k1: z.number().nonnegative(),
  b: z.number().min(0).max(1),
  parts: z.strictObject(
    Object.fromEntries(PARTS.map(part => [part, partSchema])) as Record<IndexPart, typeof partSchema>,
  ),
})
export type IndexTable = z.output<typeof tableSchema>

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

const writeAll = (fd: number, bytes: Uint8Array, position: number): void => {
  for (let at = 0; at < bytes.byteLength; )
    at += writeSync(fd, bytes, at, Math.min(CHUNK_BYTES, bytes.byteLength - at), position + at)
}

/** Whether a file begins as an index does. */
const isIndex = (path: string): boolean => {
  const fd = openSync(path, 'r')
  try {
    const head = Buffer.alloc(MAGIC.length)
    return readSync(fd, head, 0, head.length, 0) === head.length && head.toString('latin1') === MAGIC
  } finally {
    closeSync(fd)
  }
}

/** Where an index asked for at `path` is to lie: through a link, in place of nothing or of an index. */
const placeFor = (path: string): string => {
  if (path === '') throw new DataError('an empty path: cannot be written: it names no file; choose a path')
  const there = statSync(path, { throwIfNoEntry: false })
  if (there === undefined) return path
  if (there.isDirectory()) closeSync(openSync(path, 'w'))
  if (!there.isFile())
    throw new DataError(
      `${path}: cannot be written: expected a file, got a device or pipe; choose another path`,
    )
  if (there.size > 0 && !isIndex(path))
    throw new DataError(
      `${path}: cannot be written: another kind of file is there already; choose another path`,
    )
  return realpathSync(path)
}

/** Writes an index part by part; nothing is at the path before `finish`. */
export class IndexWriter {
  readonly #asked: string
  readonly #place: string
  readonly #temporary: string
  readonly #fd: number
  readonly #parts = new Map<IndexPart, IndexTable['parts'][IndexPart]>()
  #end = PRELUDE_BYTES

  /** @throws DataError for a path that cannot be written, or holds something else */
  constructor(path: string) {
    const failure = { doing: 'cannot be written' }
    this.#asked = path
    this.#place = withFile(path, () => placeFor(path), failure)
    this.#temporary = temporaryPath(this.#place)
    this.#fd = withFile(
      path,
      () => {
        mkdirSync(dirname(this.#place), { recursive: true })
        sweepOnce(dirname(this.#place))
        return openSync(this.#temporary, 'w')
      },
      failure,
    )
  }

  /** Writes one part from its chunks. Each part once. */
  async write(part: IndexPart, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const offset = Math.ceil(this.#end / ALIGNMENT) * ALIGNMENT
    const hash = createHash('sha256')
    let bytes = 0
    for await (const chunk of chunks) {
      hash.update(chunk)
      this.#put(chunk, offset + bytes)
      bytes += chunk.byteLength
    }
    this.#end = offset + bytes
    this.#parts.set(part, { offset, bytes, sha256: hash.digest('hex') })
  }

  #put(bytes: Uint8Array, position: number): void {
    withFile(this.#asked, () => writeAll(this.#fd, bytes, position), { doing: 'cannot be written' })
  }

  /** Writes the table of contents and gives the file its name. @returns its size in bytes */
  finish(about: Omit<IndexTable, 'parts' | 'endianness'>): number {
    const parts = Object.fromEntries(this.#parts) as IndexTable['parts']
    const table = Buffer.from(JSON.stringify({ endianness: endianness(), ...about, parts }))
    const prelude = Buffer.alloc(PRELUDE_BYTES)
    prelude.write(MAGIC, 'latin1')
    prelude.writeUInt32LE(INDEX_VERSION, 8)
    prelude.writeUInt32LE(table.length, 12)
    prelude.writeDoubleLE(this.#end, 16)
    sha256(table).copy(prelude, 24)
    this.#put(table, this.#end)
    this.#put(prelude, 0)
    withFile(
      this.#asked,
      () => {
        fsyncSync(this.#fd)
        closeSync(this.#fd)
        renameSync(this.#temporary, this.#place)
      },
      { doing: 'cannot be written' },
    )
    syncFolder(dirname(this.#place))
    return this.#end + table.length
  }

  /** Leaves nothing behind; what was at the path before is as it was. */
  abandon(): void {
    try {
      closeSync(this.#fd)
    } catch {
      // It was closed by `finish`.
    }
    if (existsSync(this.#temporary)) rmSync(this.#temporary, { force: true })
  }
}

/** Bytes of a typed array, as they lie in memory. */
export const bytesOf = (array: Uint8Array | Uint32Array | Float64Array): Uint8Array[] => [
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength),
]

/** Lines in buffers of about a mebibyte. */
export async function* inBuffers(lines: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = []
  let bytes = 0
  for await (const line of lines) {
    waiting.push(line)
    bytes += line.length
    if (bytes < BUFFER_BYTES) continue
    yield Buffer.concat(waiting)
    waiting = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(waiting)
}

const AGAIN = 'build the index again'

/** An index that is open for reading. */
export class IndexReader {
  readonly path: string
  readonly table: IndexTable
  readonly #fd: number

  /** Reads the table of contents. @throws DataError for a file that is no index, of another version, cut short or changed */
  constructor(path: string) {
    this.path = path
    this.#fd = withFile(path, () => openSync(path, 'r'))
    try {
      this.table = this.#readTable()
    } catch (error) {
      closeSync(this.#fd)
      throw fileFailure(path, error)
    }
  }

  #fault(expected: string, got: string): DataError {
    return new DataError(`${this.path}: expected ${expected}, got ${got}`, { hint: AGAIN })
  }

  #readTable(): IndexTable {
    const stat = fstatSync(this.#fd)
    if (stat.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    if (!stat.isFile()) throw this.#fault('a search index', 'a device or pipe')
    const prelude = this.#readAt(0, Math.min(PRELUDE_BYTES, stat.size))
    if (prelude.toString('latin1', 0, MAGIC.length) !== MAGIC)
      throw new DataError(`${this.path}: expected a search index, got another kind of file`, {
        hint: 'gradus search build makes one',
      })
    if (prelude.length < PRELUDE_BYTES) throw this.#fault('a whole search index', `${stat.size} bytes of one`)
    const version = prelude.readUInt32LE(8)
    if (version !== INDEX_VERSION)
      throw this.#fault(`a search index of version ${INDEX_VERSION}`, `version ${version}`)
    const bytes = prelude.readUInt32LE(12)
    const offset = prelude.readDoubleLE(16)
    if (!Number.isSafeInteger(offset) || offset < PRELUDE_BYTES || bytes > MAX_TABLE_BYTES)
      throw this.#fault('a search index', 'one that was changed after it was written')
    if (offset + bytes !== stat.size)
      throw this.#fault(
        `a search index of ${offset + bytes} bytes`,
        `a file of ${stat.size}: it is not whole`,
      )
    return this.#parseTable(this.#readAt(offset, bytes), prelude.subarray(24, 56), offset)
  }

  #parseTable(bytes: Buffer, digest: Uint8Array, end: number): IndexTable {
    if (!sha256(bytes).equals(digest))
      throw this.#fault('the table of contents that was written', 'one that was changed')
    const parsed = tableSchema.safeParse(JSON.parse(bytes.toString('utf8')))
    if (!parsed.success) throw this.#fault('a table of contents', 'one that lacks something')
    const inside = PARTS.every(part => {
      const { offset, bytes } = parsed.data.parts[part]
      return offset >= PRELUDE_BYTES && offset % ALIGNMENT === 0 && offset + bytes <= end
    })
    if (!inside) throw this.#fault('parts inside the file', 'some beyond its end')
    if (parsed.data.endianness !== endianness())
      throw this.#fault('an index of this kind of machine', 'one with its bytes in the other order')
    return parsed.data
  }

  #readAt(position: number, length: number): Buffer {
    const bytes = Buffer.from(new ArrayBuffer(length))
    for (let at = 0; at < length; ) {
      const count = readSync(this.#fd, bytes, at, Math.min(CHUNK_BYTES, length - at), position + at)
      if (count === 0) throw this.#fault('a whole search index', 'the end of the file in the middle of it')
      at += count
    }
    return bytes
  }

  /** One part, checked against its SHA-256; begins at the beginning of its buffer. @throws DataError where it was changed */
  read(part: IndexPart): Buffer {
    const { offset, bytes, sha256: wanted } = this.table.parts[part]
    const read = withFile(this.path, () => this.#readAt(offset, bytes))
    if (sha256(read).toString('hex') !== wanted) throw this.#changed(part)
    return read
  }

  /** Checks a part that is not held in memory. @throws DataError where it was changed */
  verify(part: IndexPart): void {
    const { offset, bytes, sha256: wanted } = this.table.parts[part]
    const hash = createHash('sha256')
    for (let at = 0; at < bytes; at += BUFFER_BYTES)
      hash.update(withFile(this.path, () => this.#readAt(offset + at, Math.min(BUFFER_BYTES, bytes - at))))
    if (hash.digest('hex') !== wanted) throw this.#changed(part)
  }

  #changed(part: IndexPart): GradusError {
    return this.#fault(`${part} as they were written`, 'other bytes')
  }

  /** Bytes of a part that is not held in memory, from `from` to `to`. */
  slice(part: IndexPart, from: number, to: number): Buffer {
    return withFile(this.path, () => this.#readAt(this.table.parts[part].offset + from, to - from))
  }

  close(): void {
    closeSync(this.#fd)
  }
}
