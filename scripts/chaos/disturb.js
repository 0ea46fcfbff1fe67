// What is done to a running command: signals at chosen moments, jumps of its clock, a disk that fails.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { killAll } from './child.js'

const preload = name => new URL(`./preload/${name}.js`, import.meta.url).href
export const CLOCK = preload('clock')
export const DISK = preload('disk')

/** What a command is started with so that an attempt's fault is in it. @param expectedMs of the undisturbed run */
export const surroundings = (attempt, expectedMs, bytes) => {
  switch (attempt?.fault) {
    case 'clock': {
      const jumps = attempt.jumps.map(({ at, shiftMs }) => ({ atMs: at * expectedMs, shiftMs }))
      return { preloads: [CLOCK], env: { GRADUS_CHAOS_CLOCK: JSON.stringify(jumps) } }
    }
    case 'disk-full': {
      const { after, count, half } = attempt
      return {
        preloads: [DISK],
        env: { GRADUS_CHAOS_DISK: JSON.stringify({ kind: 'full', after, count, half }) },
      }
    }
    case 'slow-disk': {
      const { share, mostMs } = attempt
      return { preloads: [DISK], env: { GRADUS_CHAOS_DISK: JSON.stringify({ kind: 'slow', share, mostMs }) } }
    }
    case 'file-limit':
      // In blocks of 512 bytes, as POSIX has it.
      return { shell: `ulimit -f ${Math.max(1, Math.ceil((attempt.share * bytes.largest) / 512))}` }
    default:
      return {}
  }
}

const namesIn = folder => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

const contentOf = path => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Waits until something holds or the command ended; false for the latter. */
const until = async (child, holds) => {
  while (child.isRunning) {
    if (holds()) return true
    await wait(2)
  }
  return false
}

/** Sleeps, but no longer than the command runs. */
const sleepBeside = (child, ms) =>
  Promise.race([wait(Math.max(0, ms), undefined, { ref: false }), child.ended])

const untilMoment = async (child, { moment, at, nth, waitMs }, dir, expectedMs) => {
  const checkpoints = join(dir, 'checkpoints')
  const latest = join(checkpoints, 'latest')
  switch (moment) {
    case 'start':
      return sleepBeside(child, at * Math.min(1500, expectedMs / 3))
    case 'save': {
      for (let i = 0; i < nth; i++) {
        const busy = () => namesIn(checkpoints).some(name => name.endsWith('.tmp'))
        if (!(await until(child, busy))) return
        if (i + 1 < nth) await until(child, () => !busy())
      }
      return sleepBeside(child, waitMs)
    }
    case 'saved': {
      for (let i = 0; i < nth; i++) {
        const before = contentOf(latest)
        if (!(await until(child, () => contentOf(latest) !== before))) return
      }
      return sleepBeside(child, waitMs)
    }
    default:
      return sleepBeside(child, at * expectedMs)
  }
}

/** Ends by `SIGKILL`; with `tree`, whatever it started too. */
const kill = (child, trial, tree) => {
  child.signal('SIGKILL')
  if (tree) killAll(trial)
}

/**
 * Carries out an attempt's signals on a running command.
 * @returns how it may end: exit codes and signals
 */
export const disturb = async (child, attempt, { dir, expectedMs, trial }) => {
  switch (attempt?.fault) {
    case 'kill':
      await untilMoment(child, attempt, dir, expectedMs)
      kill(child, trial, attempt.tree)
      return { codes: [0], signals: ['SIGKILL'] }
    case 'signals':
      return signals(child, attempt, expectedMs)
    case 'pause': {
      for (const { at, ms } of attempt.pauses) {
        await sleepBeside(child, (at * expectedMs) / attempt.pauses.length)
        child.signal('SIGSTOP')
        await wait(ms)
        child.signal('SIGCONT')
      }
      return { codes: [0], signals: [] }
    }
    case 'clock':
      if (attempt.kill === null) return { codes: [0], signals: [] }
      await sleepBeside(child, attempt.kill * expectedMs)
      kill(child, trial, true)
      return { codes: [0], signals: ['SIGKILL'] }
    case 'disk-full':
    case 'file-limit':
    case 'small-device':
    case 'full-output':
    case 'judge-lasting':
      return { codes: [0, 1], signals: [] }
    default:
      return { codes: [0], signals: [] }
  }
}

const signals = async (child, { signal, at, after, waitMs }, expectedMs) => {
  await sleepBeside(child, at * expectedMs)
  child.signal(signal)
  // Before the program listens, the signal ends it.
  const ends = { codes: [0, 130], signals: [signal] }
  if (after === 'wait') return ends
  await sleepBeside(child, waitMs)
  child.signal(after === 'again' ? signal : 'SIGKILL')
  return after === 'kill' ? { ...ends, signals: [signal, 'SIGKILL'] } : ends
}

/** A small file system in memory, where this machine lets us mount one. */
export class SmallDevice {
  #folder

  /** @returns {SmallDevice | null} null where nothing can be mounted */
  static mount(folder, bytes) {
    mkdirSync(folder, { recursive: true })
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${Math.ceil(bytes)}`, 'gradus-chaos', folder], {
        stdio: 'ignore',
      })
    } catch {
      rmSync(folder, { recursive: true, force: true })
      return null
    }
    return new SmallDevice(folder)
  }

  constructor(folder) {
    this.#folder = folder
  }

  grow(bytes) {
    execFileSync('mount', ['-o', `remount,size=${Math.ceil(bytes)}`, this.#folder], { stdio: 'ignore' })
  }

  unmount() {
    if (!existsSync(this.#folder)) return
    try {
      execFileSync('umount', [this.#folder], { stdio: 'ignore' })
    } catch {
      execFileSync('umount', ['-l', this.#folder], { stdio: 'ignore' })
    }
  }
}
