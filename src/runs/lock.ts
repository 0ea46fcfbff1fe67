/**
 * @file One writer a run: a lock file that names its process, and that a dead process cannot hold. Its holder touches it now and
 * then, so that another host, which cannot see the process, notices when it is gone.
 */

import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { hasFile, isRunning, temporaryPath } from '../util/atomic.ts'
import { withFile } from '../util/file-failure.ts'
import { guardWrite, RunError } from './errors.ts'

interface Owner {
  pid: number
  host: string
  /** Of the machine's present life, where the system tells it: containers on two machines may have one host name. */
  boot?: string
  /** Start time of the process where the system tells it: tells a process from a later one with the same pid. */
  born: string | null
  since: string
}

/** Its holder touches a lock so often. */
const BEAT_MS = 30_000
/** So long without a touch, another host's process counts as gone. One that comes back writes nothing more (`assertHeld`). */
const SILENT_AFTER_MS = 5 * 60_000

/** A lock file without readable content is a writer in the middle of its first write, or a crash; this tells them apart. */
const UNREADABLE_IS_STALE_AFTER_MS = 5_000

const PUT_BACK_WITHIN_MS = 50

/** What our own locks say, by path. */
const held = new Map<string, string>()
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

const bootId = (): string | undefined => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
}

/** Whether its process cannot be seen from here. */
const isElsewhere = ({ host, boot }: Owner): boolean =>
  host !== hostname() || (boot !== undefined && boot !== bootId())

const readOwner = (path: string): Owner | null => {
  try {
    return hasFile(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Owner) : null
  } catch {
    return null
  }
}

/** @param nowMs what time it is where the lock lies */
const isStale = (path: string, owner: Owner | null, nowMs: (path: string) => number): boolean => {
  if (owner === null) return Date.now() - touchedMs(path) > UNREADABLE_IS_STALE_AFTER_MS
  if (isElsewhere(owner)) return nowMs(path) - touchedMs(path) > SILENT_AFTER_MS
  if (owner.pid === process.pid) return !held.has(path)
  if (!isRunning(owner.pid)) return true
  const birth = processBirth(owner.pid)
  return owner.born !== null && birth !== null && birth !== owner.born
}

/** What time it is by the clock of the disk that a lock lies on: hosts' clocks differ. */
const diskNowMs = (path: string): number => {
  const beside = temporaryPath(path)
  try {
    writeFileSync(beside, '')
    return statSync(beside).mtimeMs
  } catch {
    return Date.now()
  } finally {
    rmSync(beside, { force: true })
  }
}

/** A lock that is gone this moment is as old as can be. */
const touchedMs = (path: string): number => {
  try {
    return statSync(path).mtimeMs
  } catch {
    return Number.NEGATIVE_INFINITY
  }
}

/** Returns what the lock says; null where there is one already. */
const tryCreate = (path: string): string | null => {
  const owner: Owner = {
    pid: process.pid,
    host: hostname(),
    boot: bootId(),
    born: processBirth(process.pid),
    since: new Date().toISOString(),
  }
  const beside = temporaryPath(path)
  try {
    const text = JSON.stringify(owner)
    writeFileSync(beside, text)
    linkOrWrite(beside, path)
    return text
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return null
    throw error
  } finally {
    rmSync(beside, { force: true })
  }
}

const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** A link is there whole or not at all: neither a kill nor a full disk leaves a lock without its owner. */
const linkOrWrite = (beside: string, path: string): void => {
  try {
    linkSync(beside, path)
  } catch (error) {
    if (!NO_LINKS.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    writeFileSync(path, readFileSync(beside), { flag: 'wx' })
  }
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

/** What a lock is of, for its errors. */
export interface Locked {
  noun: string
  /** What it is; default: a folder. */
  place?: 'file' | 'folder'
  /** What to do when another process has taken it over. */
  whenTaken: string
  /** What to do when the lock is gone. */
  whenGone: string
}

const RUN: Locked = {
  noun: 'run',
  whenTaken: 'leave the run to that process, or stop it and go on with --resume',
  whenGone: 'look at the run with `gradus runs check`, and go on with --resume if it is not finished',
}

const named = (owner: Owner | null): string =>
  owner === null ? 'another process' : `process ${owner.pid} on ${owner.host} since ${owner.since}`

const ifItIsGone = (path: string): string =>
  `if that process is gone (a container that was replaced, for example), try again when its lock has not been touched for ${SILENT_AFTER_MS / 60_000} minutes, or delete ${path}`

const refusal = (path: string, owner: Owner | null, { noun, place = 'folder' }: Locked): RunError =>
  new RunError(
    `${path}: this ${noun} is being written by ${named(owner)}; two processes cannot write one ${noun}`,
    {
      hint:
        owner !== null && isElsewhere(owner)
          ? `wait for it; ${ifItIsGone(path)}`
          : `wait for it, stop it, or choose another ${noun} ${place}`,
    },
  )

/** A lock that is held. */
export interface RunLock {
  release(): void
  /** @throws RunError when it is no longer ours: another host took it over, and perhaps gave it back since */
  assertHeld(): void
}

/**
 * Takes the lock of a run folder, or of another one that has one writer. A lock whose process is dead is taken over, and so is one
 * of another host that has not been touched for minutes.
 * @throws RunError when a living process holds it
 */
export const takeLock = (dir: string, of: Locked = RUN): RunLock => {
  mkdirSync(dir, { recursive: true })
  return takeLockAt(join(realpathSync(dir), 'lock'), of)
}

/** Takes the lock of a file that has one writer, `FILE.lock` beside it. @throws RunError as `takeLock`; DataError where none can be there */
export const takeFileLock = (file: string, of: Locked): RunLock =>
  takeLockAt(`${withFile(file, () => realFile(file), { doing: 'cannot be written' })}.lock`, of)

/** A file by the one name that all links to it share. */
const realFile = (file: string): string =>
  existsSync(file) ? realpathSync(file) : join(realpathSync(dirname(file)), basename(file))

const takeLockAt = (path: string, of: Locked): RunLock => {
  for (let attempt = 0; attempt < 5; attempt++) {
    const text = guardWrite(path, () => tryCreate(path))
    if (text !== null) return holdLock(path, text, of)
    const owner = readOwner(path)
    if (!isStale(path, owner, diskNowMs)) throw refusal(path, owner, of)
    removeStale(path, owner)
  }
  throw refusal(path, readOwner(path), of)
}

/** What a lock says; null where there is none, `unknown` where that cannot be told now. */
const contentOf = (path: string): string | null => {
  try {
    return hasFile(path) ? readFileSync(path, 'utf8') : null
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '') ? null : 'unknown'
  }
}

/** Who finds a stale lock moves it aside, and puts it back at once where it was not that one: so look again. */
const contentAfterPause = (path: string): string | null => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PUT_BACK_WITHIN_MS)
  return contentOf(path)
}

const isOurs = (path: string, text: string): boolean => contentOf(path) === text

const takenOver = (path: string, { noun, whenTaken }: Locked): RunError =>
  new RunError(
    `${path}: this ${noun} was taken over by ${named(readOwner(path))}, because this process gave no sign of life for ${SILENT_AFTER_MS / 60_000} minutes; it writes nothing more`,
    { hint: whenTaken },
  )

/** Whoever took a lock over may be done already and have given it back: rows of ours would come after its own. */
const lockGone = (path: string, { noun, whenGone }: Locked): RunError =>
  new RunError(
    `${path}: the lock of this process is gone: another one took the ${noun} over and is done with it, or somebody deleted it; this process writes nothing more`,
    { hint: whenGone },
  )

/** A lock that was taken over is its new holder's: neither touched nor removed. */
const dropOurs = (path: string, text: string): void => {
  if (isOurs(path, text)) rmSync(path, { force: true })
}

const touch = (path: string, text: string): void => {
  try {
    const now = new Date()
    if (isOurs(path, text)) utimesSync(path, now, now)
  } catch {
    // A disk that does not answer now may do so at the next beat.
  }
}

const holdLock = (path: string, text: string, of: Locked): RunLock => {
  held.set(path, text)
  const beat = setInterval(() => touch(path, text), BEAT_MS)
  beat.unref()
  if (!exitHookInstalled) {
    exitHookInstalled = true
    process.once('exit', () => {
      for (const [lock, own] of held) dropOurs(lock, own)
    })
  }
  return {
    release() {
      clearInterval(beat)
      if (held.get(path) !== text) return
      held.delete(path)
      dropOurs(path, text)
    },
    assertHeld() {
      const now = contentOf(path) ?? contentAfterPause(path)
      // A disk that does not answer says nothing about the lock; the write itself will tell.
      if (now === text || now === 'unknown') return
      throw now === null ? lockGone(path, of) : takenOver(path, of)
    },
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
    // Who only looks writes nothing, not even to ask the disk for the time.
    if (isStale(path, owner, Date.now)) return null
    const advice = owner !== null && isElsewhere(owner) ? ifItIsGone(path) : 'wait for it, or stop it'
    return { who: named(owner), advice }
  } catch {
    return null
  }
}

/** Whether a living process writes this run now (as far as this host can tell). */
export const isLocked = (dir: string): boolean => lockHolder(dir) !== null
