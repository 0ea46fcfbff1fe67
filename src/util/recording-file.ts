/** @file Attempts of a teacher as a file: a first line about what all have in common, then an attempt a line, appended as they finish. */

import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import type { z } from 'zod'
import { canonicalJson, shortJson } from './canonical.ts'
import { DataError } from './errors.ts'
import { fileFailure } from './file-failure.ts'
import { type JsonlLine, noRows, parseRow } from './jsonl.ts'
import { MAX_LINE_BYTES } from './jsonl-stream.ts'
import { describeKeys, describeValue, parseWith } from './schema.ts'
import { fileChunks, linesOf } from './text-file.ts'

/** One attempt of several at something that has a name. */
interface Attempt {
  id: string
  attempt: number
}

/** What the lines of such a file are. */
export interface RecordingFormat<Header, Row extends Attempt> {
  /** `gradus` in the first line. */
  kind: string
  /** What the rows are, and the command that writes them. */
  words: { what: string; command: string }
  header: z.ZodType<Header>
  row: z.ZodType<Row>
}

export interface Recording<Header, Row> {
  header: Header
  rows: Row[]
}

/** Names an attempt: what is done is not done again. */
export const attemptKey = ({ id, attempt }: Attempt): string => `${attempt}/${id}`

/** Whose file it is, by its first line; null for another kind of file. @throws DataError for one that cannot be read */
export const recordingKind = (path: string): string | null => {
  for (const { text, place } of linesIn(path)) {
    const value = parseRow(text, place, row => row) as { gradus?: unknown } | null
    return typeof value?.gradus === 'string' ? value.gradus : null
  }
  throw noRows(path, 'attempt')
}

/** Lines that are not blank, one by one: together they may be longer than a text can be. @param end of what is read, in bytes */
function* linesIn(path: string, end = Number.POSITIVE_INFINITY): Generator<JsonlLine> {
  for (const { number, text } of linesOf(chunksUntil(path, end), path, MAX_LINE_BYTES))
    if (text.trim() !== '') yield { place: `${path}:${number}`, text }
}

function* chunksUntil(path: string, end: number): Generator<Buffer> {
  let at = 0
  for (const chunk of fileChunks(path)) {
    yield chunk.subarray(0, Math.max(0, end - at))
    at += chunk.length
  }
}

const readHeader = <Header, Row extends Attempt>(
  { kind, words, header }: RecordingFormat<Header, Row>,
  value: unknown,
  place: string,
): Header => {
  if ((value as { gradus?: unknown } | null)?.gradus === kind)
    return parseWith(header, value, place, DataError)
  const got =
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? describeKeys(value)
      : describeValue(value)
  throw new DataError(
    `${place}: expected the first line of recorded ${words.what}, {"gradus":"${kind}",...}, got ${got}`,
    { hint: `name a file that \`${words.command}\` wrote` },
  )
}

/**
 * Reads what was recorded. With `torn` a last line without an end, which a kill may have left, is dropped.
 * @throws DataError naming file and line for what is none, and for an attempt that is there twice
 */
export const readRecorded = <Header, Row extends Attempt>(
  format: RecordingFormat<Header, Row>,
  path: string,
  { torn = false }: { torn?: boolean } = {},
): Recording<Header, Row> => {
  let header: Header | undefined
  const rows: Row[] = []
  const seen = new Set<string>()
  for (const { text, place } of linesIn(path, torn ? wholeBytes(path) : undefined)) {
    const value = parseRow(text, place, row => row)
    if (header === undefined) {
      header = readHeader(format, value, place)
      continue
    }
    const row = parseWith(format.row, value, place, DataError)
    const key = attemptKey(row)
    if (seen.has(key))
      throw new DataError(
        `${place}: expected every attempt once, got attempt ${row.attempt} at ${row.id} again`,
        { hint: 'two processes may have written to the file: remove one of the lines' },
      )
    seen.add(key)
    rows.push(row)
  }
  if (header !== undefined) return { header, rows }
  if (statSync(path).size === 0) throw noRows(path, 'attempt')
  throw new DataError(`${path}:1: expected a whole first line, got one that was cut off`, {
    hint: 'remove the file, or name another',
  })
}

/** Where the last whole line of a file ends. */
const wholeBytes = (path: string): number => {
  let [at, whole] = [0, 0]
  for (const chunk of fileChunks(path)) {
    const end = chunk.lastIndexOf(0x0a)
    if (end >= 0) whole = at + end + 1
    at += chunk.length
  }
  return whole
}

/** What keeps others from writing to the file meanwhile. */
interface WriterLock {
  release(): void
  /** @throws where another process has taken the file over */
  assertHeld(): void
}

/** A file that attempts are appended to, each as one write; a line that a kill has torn is dropped. */
export class RecordingFile<Row extends Attempt> {
  readonly path: string
  /** Attempts that were there. */
  readonly rows: readonly Row[]
  readonly #fd: number
  readonly #lock: WriterLock

  private constructor(path: string, fd: number, rows: readonly Row[], lock: WriterLock) {
    this.path = path
    this.#fd = fd
    this.rows = rows
    this.#lock = lock
  }

  /**
   * Opens a file, or begins it.
   * @param takeLock called before it is read: what another process appends after that would be made again
   * @throws DataError for a file that is none, cannot be written, or was begun with other settings; as `takeLock`
   */
  static open<Header extends object, Row extends Attempt>(
    format: RecordingFormat<Header, Row>,
    path: string,
    header: Header,
    takeLock: (path: string) => WriterLock,
  ): RecordingFile<Row> {
    const lock = takeLock(path)
    try {
      const isNew = !existsSync(path) || (statSync(path).isFile() && statSync(path).size === 0)
      const rows = isNew ? [] : rowsOf(format, path, header)
      // Only once it is known to be ours.
      if (!isNew) truncateSync(path, wholeBytes(path))
      const file = new RecordingFile(path, openSync(path, 'a'), rows, lock)
      if (isNew) file.#write(header)
      return file
    } catch (error) {
      lock.release()
      throw fileFailure(path, error, { doing: 'cannot be written' })
    }
  }

  /** @throws DataError naming the path where it cannot be written; as `assertHeld` of the lock */
  append(row: Row): void {
    this.#lock.assertHeld()
    this.#write(row)
  }

  /** Of a line that cannot be written whole nothing stays: the next one would stand behind it. @throws DataError naming the path */
  #write(value: object): void {
    const bytes = Buffer.from(`${JSON.stringify(value)}\n`)
    const { size } = fstatSync(this.#fd)
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at)
    } catch (error) {
      // A device cannot be cut; the write's own error is the one worth telling.
      if (fstatSync(this.#fd).isFile()) ftruncateSync(this.#fd, size)
      throw fileFailure(this.path, error, { doing: 'cannot be written' })
    }
  }

  close(): void {
    closeSync(this.#fd)
    this.#lock.release()
  }
}

/** @throws DataError for a file that is none, or was begun with other settings */
const rowsOf = <Header extends object, Row extends Attempt>(
  format: RecordingFormat<Header, Row>,
  path: string,
  header: Header,
): Row[] => {
  const { header: before, rows } = readRecorded(format, path, { torn: true })
  for (const key of Object.keys(header) as (keyof Header & string)[])
    if (canonicalJson(before[key]) !== canonicalJson(header[key]))
      throw new DataError(
        `${path}: expected to go on with the ${key} that it was begun with, got another: ${shortJson(before[key])} then, ${shortJson(header[key])} now`,
        { hint: 'give the same settings, or name another file' },
      )
  return rows
}
