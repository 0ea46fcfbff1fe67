/** @file A file of which any part can be read: one of this machine, or one behind an address. */

import { type FileHandle, open } from 'node:fs/promises'
import { DataError } from './errors.ts'
import { fileFailure } from './file-failure.ts'

export interface ByteSource {
  /** Named in errors. */
  name: string
  size: number
  /** The bytes from `start` up to `end`. @throws DataError where they cannot be had */
  read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>
  close(): Promise<void>
}

/** Bytes that are asked for at once where a source is read from its beginning to its end. */
export const PART_BYTES = 8 * 1024 * 1024

const readAll = async (handle: FileHandle, name: string, start: number, end: number) => {
  const bytes = new Uint8Array(end - start)
  let done = 0
  while (done < bytes.length) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, start + done)
    if (bytesRead === 0)
      throw new DataError(
        `${name}: expected ${end} bytes, got ${start + done}: it became shorter meanwhile`,
        {
          hint: 'read it when it is no longer written',
        },
      )
    done += bytesRead
  }
  return bytes
}

/** A file of this machine. @throws DataError for what is there not, cannot be read, or has no size, as a pipe */
export const openFile = async (path: string): Promise<ByteSource> => {
  let handle: FileHandle | undefined
  try {
    handle = await open(path, 'r')
    const found = await handle.stat()
    if (!found.isFile())
      throw new DataError(
        `${path}: expected a file, got ${found.isDirectory() ? 'a folder' : 'something without an end to begin from'}`,
        { hint: 'Parquet files are read from their end; name a plain file' },
      )
    const own = handle
    return {
      name: path,
      size: found.size,
      read: (start, end) =>
        readAll(own, path, start, end).catch(error => Promise.reject(fileFailure(path, error))),
      close: () => own.close(),
    }
  } catch (error) {
    await handle?.close()
    throw fileFailure(path, error)
  }
}

/** All bytes of a source, a part after the other. */
export async function* partsOf({ size, read }: ByteSource): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < size; start += PART_BYTES)
    yield await read(start, Math.min(size, start + PART_BYTES))
}
