/** @file Files that are whole or not there: written beside the target, flushed, then renamed; and what a kill leaves of that. */

import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isMainThread, threadId } from 'node:worker_threads'
import { DataError } from './errors.ts'
import { withFile } from './file-failure.ts'

const writeAll = (fd: number, bytes: Uint8Array) => {
  let offset = 0
  while (offset < bytes.byteLength) offset += writeSync(fd, bytes, offset, bytes.byteLength - offset)
}

const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 6)

/** `x.gradus-<host>-<pid>[-<thread>].tmp`: a name that only Gradus gives, and that says whose it is. */
const TEMPORARY = /\.gradus-([0-9a-f]{6})-(\d+)(?:-\d+)?\.tmp(?:\.old)?$/

/** Where a file or folder is written before it gets its name: beside it, marked as this thread's. */
export const temporaryPath = (path: string): string =>
  `${path}.gradus-${HOST}-${process.pid}${isMainThread ? '' : `-${threadId}`}.tmp`

/** Whether a name is one that a save gives to what is not whole yet. */
export const isTemporaryName = (name: string): boolean => /\.tmp(\.new|\.old)?$/.test(name)

/** Whether a process of this host runs; one of another user counts. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Other hosts' processes cannot be seen: what has not been touched for so long is nobody's. */
const FOREIGN_IS_DEAD_AFTER_MS = 24 * 3_600_000

const changedMs = (path: string): number => {
  try {
    return lstatSync(path).mtimeMs
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const startedMs = Date.now() - process.uptime() * 1000

/** Whether the process that made a temporary file or folder is gone, as far as this host can tell. */
export const isLeftover = (path: string): boolean => {
  const [, host, pid] = TEMPORARY.exec(path) ?? []
  if (pid === undefined) return false
  if (host !== HOST) return changedMs(path) < Date.now() - FOREIGN_IS_DEAD_AFTER_MS
  // A container gives every life of its process the same number: what is older than this process is not its own.
  if (Number(pid) === process.pid) return changedMs(path) < startedMs - 1000
  return !isRunning(Number(pid))
}

/** Whether another process that lives is writing it. */
export const isBeingWritten = (path: string): boolean => {
  const pid = TEMPORARY.exec(path)?.[2]
  return pid !== undefined && Number(pid) !== process.pid && !isLeftover(path)
}

/** Removes what killed saves left in a folder; never what a living process is writing. */
export const sweepLeftovers = (folder: string): void => {
  for (const name of namesIn(folder)) {
    const path = join(folder, name)
    if (isLeftover(path)) rmSync(path, { recursive: true, force: true })
  }
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

const swept = new Set<string>()

/** Sweeps a folder before the first write to it in this thread. */
export const sweepOnce = (folder: string): void => {
  const path = resolve(folder)
  if (swept.has(path)) return
  swept.add(path)
  sweepLeftovers(path)
}

/** Makes the names in a folder survive a loss of power. Some systems cannot open folders; there the rename alone must do. */
export const syncFolder = (folder: string): void => {
  let fd: number
  try {
    fd = openSync(folder, 'r')
  } catch {
    return
  }
  try {
    fsyncSync(fd)
  } catch {
  } finally {
    closeSync(fd)
  }
}

/**
 * Writes a file so that a reader sees the old content or the new, never a part: a temporary file in the same folder,
 * fsync, rename; of pieces each is asked for when the one before is written. On failure (a full disk, say) the temporary file is removed and the old file stays as it was. What killed
 * writes left in the folder is removed first.
 */
export const writeFileAtomic = (path: string, data: string | Uint8Array | Iterable<Uint8Array>): void => {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true })
  sweepOnce(folder)
  const temporary = temporaryPath(path)
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
    // Whoever is told should read the name that was asked for; a failed write or flush has none.
    throw Object.assign(error as Error, { path })
  }
}

/**
 * Whether there is a file to be read.
 * @throws DataError for a folder, and for a pipe or a device, which waits for somebody who writes, or never ends
 */
export const hasFile = (path: string): boolean => {
  // Below a file, as in `model.gguf/manifest.json`, there is nothing either.
  if (!existsSync(path)) return false
  const found = withFile(path, () => statSync(path))
  if (found.isFile()) return true
  const what = found.isDirectory() ? 'a folder' : 'a pipe or a device'
  throw new DataError(`${path}: expected a file, got ${what}`, {
    hint: 'put the file there, or remove it',
  })
}
