/** @file JSON Lines files that grow while others read them, and that survive a kill in the middle of a line. */

import { constants } from 'node:buffer'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs'
import { hasFile, writeFileAtomic } from '../util/atomic.ts'
import { DataError } from '../util/errors.ts'
import { withFile } from '../util/file-failure.ts'
import { tryJson } from '../util/json.ts'
import type { JsonlLine } from '../util/jsonl.ts'
import { guardWrite } from './errors.ts'

/** Longest text of the engine, in bytes where each is a character. */
const MAX_TEXT_BYTES = constants.MAX_STRING_LENGTH

/** @throws DataError for a file that is too long to be read at once */
const assertReadable = (path: string): void => {
  const { size } = withFile(path, () => statSync(path))
  if (size > MAX_TEXT_BYTES)
    throw new DataError(`${path}: expected at most ${MAX_TEXT_BYTES} bytes of rows, got ${size}`, {
      hint: 'look at the run with `gradus dashboard`, which reads rows one by one',
    })
}

/** The lines of a file that are whole: a torn last line (a kill, or a write still under way) is left out, and so are blank ones. */
const wholeLines = (path: string): JsonlLine[] => {
  if (!hasFile(path)) return []
  assertReadable(path)
  const lines = withFile(path, () => readFileSync(path, 'utf8')).split('\n')
  const tail = lines.pop() ?? ''
  if (tail !== '' && tryJson(tail) !== undefined) lines.push(tail)
  return lines
    .map((text, index) => ({ place: `${path}:${index + 1}`, text }))
    .filter(({ text }) => text.trim() !== '')
}

const parseLine = <T>({ place, text }: JsonlLine): T => {
  let row: unknown
  try {
    row = JSON.parse(text)
  } catch (error) {
    throw new DataError(`${place}: not JSON: ${(error as Error).message}`, {
      hint: 'remove that line, or the run',
      cause: error,
    })
  }
  if (typeof row === 'object' && row !== null) return row as T
  throw new DataError(`${place}: expected a row, which is an object, got ${text.slice(0, 40)}`, {
    hint: 'remove that line, or the run',
  })
}

/**
 * Reads the rows of a file that may be growing; a missing file has no rows.
 * @throws DataError naming `path:line` for a broken line that is not the last
 */
export const readRows = <T>(path: string): T[] => wholeLines(path).map(parseLine<T>)

/** How far a reader has come in a file that grows. Plain data: it may go to another process and come back. */
export interface RowPosition {
  /** Bytes read; always the end of a line. */
  offset: number
  /** Of the bytes before it, to tell when others stand there. */
  mark: string
}

/** The beginning of a file. */
export const FILE_START: RowPosition = { offset: 0, mark: '' }

export interface NewRows<T> {
  /** Those of whole lines after the position; of the whole file after a restart. */
  rows: T[]
  /** Where to go on. */
  position: RowPosition
  /** The file is another one, or was cut back (a resume): what was read before does not hold, `rows` are all there are. */
  restarted: boolean
}

/** Bytes before a position that its mark is of: a line of metrics, or the end of a longer one. */
const MARKED_BYTES = 4096

const LINE_FEED = 0x0a

/** Bytes of an open file; fewer where it ends before. */
export const readBytes = (fd: number, start: number, end: number): Buffer => {
  const bytes = Buffer.alloc(Math.max(0, end - start))
  let filled = 0
  while (filled < bytes.length) {
    const count = readSync(fd, bytes, filled, bytes.length - filled, start + filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

const markOf = (bytes: Buffer): string =>
  bytes.length === 0 ? '' : createHash('sha256').update(bytes).digest('base64url').slice(0, 16)

const markBefore = (fd: number, offset: number): string =>
  markOf(readBytes(fd, Math.max(0, offset - MARKED_BYTES), offset))

/** A line of a growing file, and where it stands there. */
export interface PlacedLine {
  /** Byte at which it begins, and its bytes without the line feed. */
  offset: number
  bytes: number
  text: string
}

/** Whole lines, each a piece of a buffer up to its line feed; a character of several bytes has none within. */
const cutLines = (start: number, bytes: Buffer): PlacedLine[] => {
  const lines: PlacedLine[] = []
  for (let begin = 0; begin < bytes.length; ) {
    const end = bytes.indexOf(LINE_FEED, begin)
    const text = bytes.toString('utf8', begin, end)
    if (text.trim() !== '') lines.push({ offset: start + begin, bytes: end - begin, text })
    begin = end + 1
  }
  return lines
}

export interface NewLines {
  lines: PlacedLine[]
  position: RowPosition
  restarted: boolean
  /** There are further whole lines, perhaps: what was read ended at `mostBytes`. */
  more: boolean
}

/** A row that is longer is none: nobody could hold it and what is made of it. */
const MAX_LINE_BYTES = 64 * 1024 ** 2

/** @throws DataError for a line at a byte that is longer than a row can be */
export const assertLineFits = (path: string, offset: number, bytes: number): void => {
  if (bytes <= MAX_LINE_BYTES) return
  throw new DataError(
    `${placeOf(path, offset)}: expected a row of at most ${MAX_LINE_BYTES} bytes, got a longer one`,
    {
      hint: 'remove that line, or the run',
    },
  )
}

/** Whole lines from `start` on, of about `mostBytes`; a line that is longer is read whole. @throws DataError for one without end */
const readWhole = (path: string, fd: number, start: number, size: number, mostBytes: number): Buffer => {
  for (let most = mostBytes; ; most *= 4) {
    const bytes = readBytes(fd, start, Math.min(size, start + most))
    const end = bytes.lastIndexOf(LINE_FEED) + 1
    if (end === 0) assertLineFits(path, start, bytes.length + 1)
    if (end > 0 || start + most >= size) return bytes.subarray(0, end)
  }
}

/**
 * Reads the lines that a file has gained since a position, at most about `mostBytes` at once; a missing file has none. A line
 * counts when its line feed is there: what a writer has half written is left for the next call, so that no row comes torn or twice.
 *
 * A file that was cut back is noticed by its size, or by other bytes before the position, also when it has grown past it again.
 */
export const readLinesFrom = (
  path: string,
  position: RowPosition = FILE_START,
  mostBytes = Number.POSITIVE_INFINITY,
): NewLines => {
  if (!hasFile(path)) return { lines: [], position: FILE_START, restarted: position.offset > 0, more: false }
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    const restarted = size < position.offset || markBefore(fd, position.offset) !== position.mark
    const start = restarted ? 0 : position.offset
    const whole = readWhole(path, fd, start, size, mostBytes)
    const offset = start + whole.length
    const more = whole.length > 0 && offset < size
    return {
      lines: cutLines(start, whole),
      position: { offset, mark: markBefore(fd, offset) },
      restarted,
      more,
    }
  } finally {
    closeSync(fd)
  }
}

/**
 * The rows of `readLinesFrom`, all that there are.
 * @throws DataError naming the byte of a whole line that is not JSON
 */
export const readRowsFrom = <T>(path: string, position: RowPosition = FILE_START): NewRows<T> => {
  const { lines, position: reached, restarted } = readLinesFrom(path, position)
  const rows = lines.map(({ offset, text }) => parseLine<T>({ place: placeOf(path, offset), text }))
  return { rows, position: reached, restarted }
}

const placeOf = (path: string, offset: number): string => `${path}, the line at byte ${offset}`

/**
 * Appends rows in one write, and returns its bytes. If it fails part way (a full disk), the file is cut back to what it was.
 * @throws RunError that names the cause and what to do
 */
export const appendRows = (path: string, rows: readonly unknown[]): Buffer => {
  if (rows.length === 0) return Buffer.alloc(0)
  const bytes = Buffer.from(`${rows.map(row => JSON.stringify(row)).join('\n')}\n`)
  guardWrite(path, () => {
    const fd = openSync(path, 'a')
    const sizeBefore = fstatSync(fd).size
    try {
      let offset = 0
      while (offset < bytes.byteLength) offset += writeSync(fd, bytes, offset)
    } catch (error) {
      cutBack(fd, sizeBefore)
      throw error
    } finally {
      closeSync(fd)
    }
  })
  return bytes
}

const cutBack = (fd: number, size: number): void => {
  try {
    ftruncateSync(fd, size)
  } catch {
    // A device cannot be cut; the write's own error is the one worth telling.
  }
}

/** Makes what was appended so far survive a loss of power. */
export const flushRows = (path: string): void => {
  if (!existsSync(path)) return
  guardWrite(path, () => {
    const fd = openSync(path, 'r+')
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  })
}

const rewriteLines = (path: string, lines: readonly JsonlLine[]): void => {
  const text = lines.map(line => `${line.text}\n`).join('')
  if (text === readFileSync(path, 'utf8')) return
  guardWrite(path, () => writeFileAtomic(path, text))
}

/** Bytes of the whole lines at the beginning of a file, and what stands after the last line feed. */
const splitTail = (path: string): { wholeBytes: number; tail: string } => {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    let tail = Buffer.alloc(0)
    for (let end = size; end > 0; ) {
      const start = Math.max(0, end - TAIL_BYTES)
      const bytes = readBytes(fd, start, end)
      const feed = bytes.lastIndexOf(LINE_FEED)
      tail = Buffer.concat([bytes.subarray(feed + 1), tail])
      if (feed >= 0) break
      end = start
    }
    return { wholeBytes: size - tail.length, tail: tail.toString('utf8') }
  } finally {
    closeSync(fd)
  }
}

const TAIL_BYTES = 1 << 16

/** Cuts a file back, in place: what a full disk allows as well. */
export const cutTo = (path: string, bytes: number): void =>
  guardWrite(path, () => {
    const fd = openSync(path, 'r+')
    try {
      ftruncateSync(fd, bytes)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  })

/** Drops a torn last line, or ends one that only lacks its line feed, so that the next append starts on a line of its own. */
export const repairTail = (path: string): void => {
  if (!existsSync(path)) return
  const { wholeBytes, tail } = withFile(path, () => splitTail(path))
  if (tail === '') return
  if (tail.trim() === '' || tryJson(tail) === undefined) cutTo(path, wholeBytes)
  else guardWrite(path, () => appendFileSync(path, '\n'))
}

/**
 * Keeps the rows with `step <= last` (and those without a step), as they were written, byte for byte.
 * @throws DataError naming `path:line` for a broken line; the file stays as it was
 */
export const keepThrough = (path: string, last: number): void => {
  if (!existsSync(path)) return
  const kept = wholeLines(path).filter(line => {
    const { step } = parseLine<{ step?: unknown }>(line)
    return typeof step !== 'number' || step <= last
  })
  rewriteLines(path, kept)
}
