/** @file Text files as people and programs leave them: UTF-8 or refused, with the place of the first wrong byte. */

import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readSync } from 'node:fs'
import { DataError, type GradusError } from './errors.ts'
import { withFile } from './file-failure.ts'

type ErrorClass = new (message: string, options?: { hint?: string; cause?: unknown }) => GradusError

export interface ReadTextOptions {
  ErrorKind?: ErrorClass
  /** What to do where there is no such file, beside checking the path. */
  missingHint?: string
  /** Most bytes; default `MAX_TEXT_BYTES`. */
  maxBytes?: number
}

/** Most bytes of a file that is read at once: JavaScript has no longer texts. */
const MAX_TEXT_BYTES = 512 * 1024 * 1024

const CHUNK_BYTES = 1024 * 1024

/**
 * The text of a file in UTF-8, without a byte order mark. Reads pipes as well, and nothing without end.
 * @throws ErrorKind (DataError unless given) for a file that cannot be read, is too large, or is no text in UTF-8.
 */
export const readText = (path: string, options: ReadTextOptions = {}): string =>
  decodeText(readBytes(path, options), path, options)

/** The bytes of a file, part by part. @throws ErrorKind for one that cannot be read */
export function* fileChunks(
  path: string,
  failure: Pick<ReadTextOptions, 'ErrorKind' | 'missingHint'> = {},
): Generator<Buffer> {
  const fd = withFile(path, () => openSync(path, 'r'), failure)
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      const length = withFile(path, () => readSync(fd, chunk), failure)
      if (length === 0) return
      yield chunk.subarray(0, length)
    }
  } finally {
    closeSync(fd)
  }
}

const readBytes = (
  path: string,
  { ErrorKind = DataError, maxBytes = MAX_TEXT_BYTES, missingHint }: ReadTextOptions,
): Buffer => {
  const chunks: Buffer[] = []
  let size = 0
  for (const chunk of fileChunks(path, { ErrorKind, missingHint })) {
    refuseNul(chunk, size, path, path, ErrorKind)
    size += chunk.length
    if (size > maxBytes)
      throw new ErrorKind(
        `${path}: expected at most ${maxBytes} bytes, got more; that is the most that is read at once`,
        { hint: 'split the file' },
      )
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const convert = (path: string, from: string): string => {
  const file = /^[\w./-]{2,}$/.test(path) ? path : 'FILE'
  return `convert it, for example: iconv -f ${from} -t UTF-8 ${file} > ${file}.utf8`
}

/** No text has NUL bytes, but UTF-16 has one in every second place. @param offset of these bytes in the file */
const refuseNul = (
  bytes: Buffer,
  offset: number,
  place: string,
  path: string,
  ErrorKind: ErrorClass = DataError,
): void => {
  const mark = offset === 0 && bytes.length >= 2 ? bytes.readUInt16BE(0) : 0
  if (mark === 0xfffe || mark === 0xfeff)
    throw new ErrorKind(`${path}: expected text in UTF-8, got UTF-16`, { hint: convert(path, 'UTF-16') })
  const at = bytes.indexOf(0)
  if (at >= 0)
    throw new ErrorKind(
      `${place}: expected text in UTF-8, got a NUL byte at offset ${offset + at} of the file: it is no text, or UTF-16`,
      { hint: convert(path, 'UTF-16') },
    )
}

/** Offset of the first byte that is no UTF-8. What decoding puts in its place, and that alone, differs when encoded again. */
const firstWrongByte = (bytes: Uint8Array): number => {
  const again = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  let at = 0
  while (at < bytes.length && bytes[at] === again[at]) at++
  while (at > 0 && (again[at] & 0xc0) === 0x80) at--
  return at
}

const hex = (byte: number): string => `0x${byte.toString(16).toUpperCase().padStart(2, '0')}`

const BOM = '\uFEFF'

/** @throws ErrorKind naming line and offset of the first byte that is no UTF-8 */
const decodeText = (bytes: Buffer, path: string, { ErrorKind = DataError }: ReadTextOptions): string => {
  if (isUtf8(bytes)) {
    const text = bytes.toString('utf8')
    return text.startsWith(BOM) ? text.slice(1) : text
  }
  const at = firstWrongByte(bytes)
  const line = 1 + countLineFeeds(bytes.subarray(0, at))
  throw wrongByte(path, `${path}:${line}`, bytes[at], at, ErrorKind)
}

const countLineFeeds = (bytes: Uint8Array): number => {
  let count = 0
  for (const byte of bytes) if (byte === 0x0a) count++
  return count
}

const wrongByte = (
  path: string,
  place: string,
  byte: number,
  offset: number,
  ErrorKind: ErrorClass = DataError,
): GradusError =>
  new ErrorKind(
    `${place}: expected text in UTF-8, got the byte ${hex(byte)} at offset ${offset} of the file`,
    {
      hint: `if it is Latin-1, ${convert(path, 'LATIN1')}`,
    },
  )

/** A line of a stream of bytes, and which one it is, from 1. */
export interface NumberedLine {
  number: number
  text: string
}

/**
 * Cuts bytes into lines, whichever way they come in chunks. Only a line feed ends a line: other line separators of Unicode may
 * stand inside JSON texts. The last line needs none.
 */
const lineCutter = (path: string, maxBytes: number) => {
  let number = 1
  let offset = 0
  let waiting: Buffer[] = []
  let size = 0
  const take = (part: Buffer) => {
    // Now, not when the line ends: what has no line feed may have no end.
    refuseNul(part, offset + size, `${path}:${number}`, path)
    size += part.length
    if (size > maxBytes)
      throw new DataError(`${path}:${number}: expected a line of at most ${maxBytes} bytes, got more`, {
        hint: 'one row a line; split the row',
      })
    waiting.push(part)
  }
  const finish = (): NumberedLine => {
    const line = waiting.length === 1 ? waiting[0] : Buffer.concat(waiting)
    const text = decodeLine(line, offset, `${path}:${number}`, path)
    const numbered = { number, text: number === 1 && text.startsWith(BOM) ? text.slice(1) : text }
    offset += size + 1
    number++
    waiting = []
    size = 0
    return numbered
  }
  return {
    *lines(chunk: Uint8Array): Generator<NumberedLine> {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      let from = 0
      for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, from)) {
        take(bytes.subarray(from, end))
        yield finish()
        from = end + 1
      }
      if (from < bytes.length) take(bytes.subarray(from))
    },
    *last(): Generator<NumberedLine> {
      if (size > 0) yield finish()
    },
  }
}

/**
 * The lines of a stream of bytes.
 * @param path named in errors
 * @param maxBytes of a line
 * @throws DataError for a line that is too long, or no text in UTF-8
 */
export async function* textLines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  path: string,
  maxBytes: number,
): AsyncGenerator<NumberedLine> {
  const cutter = lineCutter(path, maxBytes)
  for await (const chunk of chunks) yield* cutter.lines(chunk)
  yield* cutter.last()
}

/** As `textLines`, of chunks that are there. */
export function* linesOf(
  chunks: Iterable<Uint8Array>,
  path: string,
  maxBytes: number,
): Generator<NumberedLine> {
  const cutter = lineCutter(path, maxBytes)
  for (const chunk of chunks) yield* cutter.lines(chunk)
  yield* cutter.last()
}

const decodeLine = (line: Buffer, offset: number, place: string, path: string): string => {
  if (isUtf8(line)) return line.toString('utf8')
  const at = firstWrongByte(line)
  throw wrongByte(path, place, line[at], offset + at)
}
