/** @file Files that are whole or not there: written beside the target, flushed, then renamed. */

import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

const writeAll = (fd: number, bytes: Uint8Array) => {
  let offset = 0
  while (offset < bytes.byteLength) offset += writeSync(fd, bytes, offset, bytes.byteLength - offset)
}

/**
 * Writes a file so that a reader sees the old content or the new, never a part: a temporary file in the same folder,
 * fsync, rename. On failure (a full disk, say) the temporary file is removed and the old file stays as it was.
 */
export const writeFileAtomic = (path: string, data: string | Uint8Array | readonly Uint8Array[]): void => {
  mkdirSync(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}.tmp`
  const chunks = typeof data === 'string' ? [Buffer.from(data)] : data instanceof Uint8Array ? [data] : data
  try {
    const fd = openSync(temporary, 'w')
    try {
      for (const chunk of chunks) writeAll(fd, chunk)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
