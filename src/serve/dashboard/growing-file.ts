/** @file A file of rows that is read as it grows: what was read once is not read again, and little of it is held at a time. */

import { closeSync, openSync } from 'node:fs'
import {
  FILE_START,
  type PlacedLine,
  type RowPosition,
  readBytes,
  readLinesFrom,
} from '../../runs/row-files.ts'
import { DataError } from '../../util/errors.ts'
import { fileOf } from './library.ts'

/** Read at once; parsing it takes some tens of milliseconds, in which nobody is answered. */
const PART_BYTES = 4 * 1024 ** 2

const turn = () => new Promise(resolve => setImmediate(resolve))

export interface GrowingFileEvents {
  onLine(line: PlacedLine): void
  /** The file is another one, or was cut back: what was told before does not hold. */
  onRestart(): void
}

export class GrowingFile {
  readonly #dir: string
  readonly #name: string
  readonly #events: GrowingFileEvents
  #position: RowPosition
  #under: Promise<boolean> | null = null

  /** @param from where to go on, of a file whose lines up to there are known */
  constructor(dir: string, name: string, events: GrowingFileEvents, from: RowPosition = FILE_START) {
    this.#dir = dir
    this.#name = name
    this.#events = events
    this.#position = from
  }

  get position(): RowPosition {
    return this.#position
  }

  /** Reads on to the end; whoever asks meanwhile waits for the same. @returns whether there was anything new */
  advance(): Promise<boolean> {
    this.#under ??= this.#advance().finally(() => {
      this.#under = null
    })
    return this.#under
  }

  async #advance(): Promise<boolean> {
    let changed = false
    for (;;) {
      const path = fileOf(this.#dir, this.#name)
      if (path === null) {
        if (this.#position.offset === 0) return changed
        this.#position = FILE_START
        this.#events.onRestart()
        return true
      }
      const { lines, position, restarted, more } = readLinesFrom(path, this.#position, PART_BYTES)
      if (restarted) this.#events.onRestart()
      this.#position = position
      for (const line of lines) this.#events.onLine(line)
      changed ||= restarted || lines.length > 0
      if (!more) return changed
      await turn()
    }
  }
}

/** Where a row of a file stands, to be read again when it is asked for. */
export type RowPlace = Pick<PlacedLine, 'offset' | 'bytes'>

/** A row that is longer is not shown. */
const MOST_BYTES = 64 * 1024 ** 2

/** A piece of a run's file. @throws DataError where there is no such file, or the piece is too long */
export const textAt = (dir: string, name: string, { offset, bytes }: RowPlace): string => {
  const path = fileOf(dir, name)
  if (path === null) throw new DataError(`${name}: there is no such file in the run any more`)
  if (bytes > MOST_BYTES)
    throw new DataError(`the row at byte ${offset} has ${bytes} bytes, which is too long to be shown`)
  const fd = openSync(path, 'r')
  try {
    return readBytes(fd, offset, offset + bytes).toString('utf8')
  } finally {
    closeSync(fd)
  }
}

/** The row at a place of a run's file. @throws DataError where it cannot be read */
export const rowAt = <T>(dir: string, name: string, place: RowPlace): T =>
  rowOf({ ...place, text: textAt(dir, name, place) }, name)

/** A row of a line. @throws DataError for a line that is none; it names its byte */
export const rowOf = <T>(line: PlacedLine, name: string): T => {
  try {
    const row: unknown = JSON.parse(line.text)
    if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as T
  } catch {}
  throw new DataError(`${name}, the line at byte ${line.offset}: expected a row of JSON`)
}
