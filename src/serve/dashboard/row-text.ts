/** @file The text of rows by their places in a file. */

import { closeSync, openSync, readSync } from 'node:fs'
import { DataError } from '../../util/errors.ts'
import { fileOf } from './library.ts'

/** A row that is longer is not shown. */
const MOST_BYTES = 64 * 1024 ** 2

const bytesAt = (fd: number, offset: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes)
  let filled = 0
  while (filled < bytes) {
    const count = readSync(fd, buffer, filled, bytes - filled, offset + filled)
    if (count === 0) break
    filled += count
  }
  return buffer.subarray(0, filled)
}

/** An open file of a run, for reading pieces of it. */
export class RowReader {
  readonly #fd: number

  /** @throws DataError where there is no such file */
  constructor(dir: string, name: string) {
    const path = fileOf(dir, name)
    if (path === null) throw new DataError(`${name}: there is no such file in the run any more`)
    this.#fd = openSync(path, 'r')
  }

  text({ offset, bytes }: { offset: number; bytes: number }): string {
    if (bytes > MOST_BYTES)
      throw new DataError(`the row at byte ${offset} has ${bytes} bytes, which is too long to be shown`)
    return bytesAt(this.#fd, offset, bytes).toString('utf8')
  }

  close(): void {
    closeSync(this.#fd)
  }
}

/** One row's text. @throws DataError where it cannot be read */
export const rowText = (dir: string, name: string, place: { offset: number; bytes: number }): string => {
  const reader = new RowReader(dir, name)
  try {
    return reader.text(place)
  } finally {
    reader.close()
  }
}
