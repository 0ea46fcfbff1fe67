/** @file One writer a run: a lock file that names its process, and that a dead process cannot hold. */

import {
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isRunning, temporaryPath } from '../util/atomic.ts'
import { guardWrite, RunError } from './errors.ts'

interface Owner {
  pid: number
  host: string
  /** Start time of the process where the system tells it: tells a process from a later one with the same pid. */
  born: string | null
  since: string
}

/** A lock file without readable content is a writer in the middle of its first write, or a crash; this tells them apart. */
const UNREADABLE_IS_STALE_AFTER_MS = 5_000

const held = new Set<string>()
let exitHookInstalled = false

const processBirth = (pid: number): string | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Fields after the command, which stands in parentheses and may contain spaces; start time is field 22.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}

const readOwner = (path: string): Owner | null => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner
  } catch {
    return null
  }
}

const isStale = (path: string, owner: Owner | null): boolean => {
  if (owner === null) return ageMs(path) > UNREADABLE_IS_STALE_AFTER_MS
  if (owner.host !== hostname()) return false
  if (owner.pid === process.pid) return !held.has(path)
  if (!isRunning(owner.pid)) return true
  const birth = processBirth(owner.pid)
  return owner.born !== null && birth !== null && birth !== owner.born
}

const ageMs = (path: string): number => {
  try {
    return Date.now() - statSync(path).mtimeMs
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const tryCreate = (path: string): boolean => {
  const owner: Owner = {
    pid: process.pid,
    host: hostname(),
    born: processBirth(process.pid),
    since: new Date().toISOString(),
  }
  const beside = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(beside, JSON.stringify(owner))
    return linkOrWrite(beside, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(beside, { force: true })
  }
}

const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** A link is there whole or not at all: neither a kill nor a full disk leaves a lock without its owner. */
const linkOrWrite = (beside: string, path: string): true => {
  try {
    linkSync(beside, path)
  } catch (error) {
    if (!NO_LINKS.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    writeFileSync(path, readFileSync(beside), { flag: 'wx' })
  }
  return true
}

/** Moves a stale lock aside; puts it back if another process had already replaced it by its own. */
const removeStale = (path: string, stale: Owner | null): void => {
  const aside = temporaryPath(path)
  try {
    renameSync(path, aside)
  } catch {
    return
  }
  const moved = readOwner(aside)
  if (JSON.stringify(moved) === JSON.stringify(stale)) rmSync(aside, { force: true })
  else renameSync(aside, path)
}

const named = (owner: Owner | null): string =>
  owner === null ? 'another process' : `process ${owner.pid} on ${owner.host} since ${owner.since}`

const isElsewhere = (owner: Owner | null): boolean => owner !== null && owner.host !== hostname()

const refusal = (path: string, owner: Owner | null): RunError =>
  new RunError(`${path}: this run is being written by ${named(owner)}; two processes cannot write one run`, {
    hint: isElsewhere(owner)
      ? 'wait for it, or delete the lock file if that process is gone'
      : 'wait for it, stop it, or choose another run folder',
  })

/**
 * Takes the lock of a run folder; returns the function that gives it back. A lock whose process is dead is taken over.
 * @throws RunError when a living process (or one on another host) holds it
 */
export const takeLock = (dir: string): (() => void) => {
  mkdirSync(dir, { recursive: true })
  const path = join(realpathSync(dir), 'lock')
  for (let attempt = 0; attempt < 5; attempt++) {
    if (guardWrite(path, () => tryCreate(path))) return holdLock(path)
    const owner = readOwner(path)
    if (!isStale(path, owner)) throw refusal(path, owner)
    removeStale(path, owner)
  }
  throw refusal(path, readOwner(path))
}

const holdLock = (path: string): (() => void) => {
  held.add(path)
  if (!exitHookInstalled) {
    exitHookInstalled = true
    process.once('exit', () => {
      for (const lock of held) rmSync(lock, { force: true })
    })
  }
  return () => {
    if (held.delete(path)) rmSync(path, { force: true })
  }
}

/** Who holds a lock, and what can be done about it. */
export interface LockHolder {
  /** `process 12 on host since 2026-01-01T00:00:00Z`. */
  who: string
  /** Another host's processes cannot be seen: this one may be gone, as when a container was replaced. */
  advice: string
}

/** Who writes this run now, as far as this host can tell; null for nobody. */
export const lockHolder = (dir: string): LockHolder | null => {
  try {
    const path = join(realpathSync(dir), 'lock')
    statSync(path)
    const owner = readOwner(path)
    if (isStale(path, owner)) return null
    const advice = isElsewhere(owner)
      ? `if that process is gone (a container that was replaced, for example), delete ${path}`
      : 'wait for it, or stop it'
    return { who: named(owner), advice }
  } catch {
    return null
  }
}

/** Whether a living process writes this run now (as far as this host can tell). */
export const isLocked = (dir: string): boolean => lockHolder(dir) !== null
