/** @file Files of weights opened to be read at any place. */

import { openSync, readSync, statSync } from 'node:fs'
import { CheckpointError } from '../util/errors.ts'

/** @throws CheckpointError for what cannot be opened, and for what is no file: a folder, a pipe or a device would fail later, or never */
export const openForReading = (path: string): number => {
  try {
    if (statSync(path).isFile()) return openSync(path, 'r')
  } catch (error) {
    throw new CheckpointError(`${path}: cannot be opened (${(error as NodeJS.ErrnoException).code})`, {
      hint: 'check the path',
      cause: error,
    })
  }
  throw new CheckpointError(`${path}: expected a file, found something else`, { hint: 'check the path' })
}

/** One read call moves at most 2 GiB; larger tensors take several. */
const MOST_BYTES = 1 << 30

/** Fills `bytes` from `offset` on. @throws what `early` gives where the file ends before */
export const readFully = (fd: number, bytes: Uint8Array, offset: number, early: () => Error): Uint8Array => {
  for (let done = 0; done < bytes.length; ) {
    const got = readSync(fd, bytes, done, Math.min(bytes.length - done, MOST_BYTES), offset + done)
    if (got === 0) throw early()
    done += got
  }
  return bytes
}
