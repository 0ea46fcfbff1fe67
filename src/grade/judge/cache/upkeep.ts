/** @file Keeps the folder of the cache within its size: oldest segments go, small ones are merged, under a lock that dies with its holder. */

import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type RunLock, takeLock } from '../../../runs/lock.ts'
import { isSegmentName, newSegmentName, segmentTimeMs } from './segment.ts'

/** After an eviction the folder is this full, so that the next is not due at once. */
const KEPT_SHARE = 0.75
/** More segments than this are merged. */
const MOST_SEGMENTS = 32
/** A segment that nobody has written to for so long may be merged. */
const QUIET_MS = 60_000
/** Upkeep takes seconds: an older lock is that of a machine that went down, or of another host's crash. */
const LOCK_EXPIRES_MS = 10 * 60_000
const TEMPORARY = '.merge.tmp'

export interface SegmentFile {
  name: string
  bytes: number
  changedMs: number
}

const ignoreMissing = <T>(work: () => T): T | null => {
  try {
    return work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Segment files of a folder, oldest first. */
export const listSegments = (folder: string): SegmentFile[] =>
  readdirSync(folder)
    .filter(isSegmentName)
    .sort()
    .flatMap(name => {
      // Another process may remove it between the two calls.
      const stat = ignoreMissing(() => statSync(join(folder, name)))
      return stat ? [{ name, bytes: stat.size, changedMs: stat.mtimeMs }] : []
    })

/** Oldest segments whose removal brings the folder down to three quarters of `maxBytes`; none while it is within. */
export const evictable = (files: readonly SegmentFile[], maxBytes: number): SegmentFile[] => {
  let total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  if (total <= maxBytes) return []
  const victims: SegmentFile[] = []
  for (const file of files) {
    if (total <= KEPT_SHARE * maxBytes) break
    victims.push(file)
    total -= file.bytes
  }
  return victims
}

/** Small segments that nobody writes to any more, once there are many files. */
export const mergeable = (
  files: readonly SegmentFile[],
  maxBytes: number,
  ownName: string | null,
  nowMs = Date.now(),
): SegmentFile[] => {
  if (files.length <= MOST_SEGMENTS) return []
  let total = 0
  const chosen = files.filter(({ name, bytes, changedMs }) => {
    if (name === ownName || nowMs - changedMs < QUIET_MS || total + bytes > maxBytes / 8) return false
    total += bytes
    return true
  })
  return chosen.length > 1 ? chosen : []
}

/** Writes the lines of several segments into one that takes their place; whole or not there. Returns its name. */
export const writeMerged = (
  folder: string,
  sources: readonly SegmentFile[],
  lines: Iterable<Buffer>,
): string => {
  const name = newSegmentName(Math.min(...sources.map(source => segmentTimeMs(source.name))))
  const temporary = join(folder, `${name}${TEMPORARY}`)
  try {
    const fd = openSync(temporary, 'wx')
    try {
      for (const line of lines) {
        let written = 0
        while (written < line.length) written += writeSync(fd, line, written)
      }
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(temporary, join(folder, name))
    return name
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

export const removeSegments = (folder: string, files: readonly SegmentFile[]): void => {
  for (const { name } of files) rmSync(join(folder, name), { force: true })
}

const ageMs = (path: string): number | null => {
  const stat = ignoreMissing(() => statSync(path))
  return stat && Date.now() - stat.mtimeMs
}

/** Removes what a crash in the middle of a merge left behind. */
const removeLeftovers = (folder: string): void => {
  for (const name of readdirSync(folder))
    if (name.endsWith(TEMPORARY)) rmSync(join(folder, name), { force: true })
}

/** Does `work` while no other process does; false when another one is at it. A dead process's lock is taken over. */
export const withUpkeepLock = (folder: string, work: () => void): boolean => {
  const path = join(folder, 'lock')
  const age = ageMs(path)
  if (age !== null && age > LOCK_EXPIRES_MS) rmSync(path, { force: true })
  let lock: RunLock
  try {
    lock = takeLock(folder)
  } catch {
    return false
  }
  try {
    removeLeftovers(folder)
    work()
  } finally {
    lock.release()
  }
  return true
}
