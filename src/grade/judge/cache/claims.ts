/** @file Claims: a process that asks a question says so in the folder, and the others wait for its verdict. */

import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** An older claim is that of a process that went away, or of a question that takes too long to be waited for. */
const EXPIRES_MS = 60_000

/** By path: what any cache of this process holds. */
const held = new Set<string>()

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/**
 * A claim is advice, not a lock: where one is lost, taken over too early or cannot be written, a question is asked twice, and
 * nothing else happens.
 */
export class Claims {
  readonly #folder: string
  #usable = true

  /** @param folder of the cache; claims are files in a folder inside it, which is there only while there are any */
  constructor(folder: string) {
    this.#folder = join(folder, 'claims')
  }

  /** Claims a key; false while another process holds it. */
  take(digest: string): boolean {
    const path = join(this.#folder, digest)
    for (let attempt = 0; this.#usable && attempt < 3; attempt++) {
      try {
        writeFileSync(path, `${process.pid} ${hostname()}`, { flag: 'wx' })
        held.add(path)
        return true
      } catch (error) {
        if (codeOf(error) === 'EEXIST') {
          if (!this.#isStale(path)) return false
          rmSync(path, { force: true })
        } else if (codeOf(error) === 'ENOENT') this.#makeFolder()
        else this.#usable = false
      }
    }
    return true
  }

  /** Gives a claim back; does nothing for one that this process does not hold. */
  release(digest: string): void {
    const path = join(this.#folder, digest)
    if (held.delete(path)) rmSync(path, { force: true })
  }

  close(): void {
    for (const path of [...held])
      if (path.startsWith(this.#folder)) {
        held.delete(path)
        rmSync(path, { force: true })
      }
    try {
      rmdirSync(this.#folder)
    } catch {
      // Others' claims are in it, or it was never made.
    }
  }

  #makeFolder(): void {
    try {
      mkdirSync(this.#folder, { recursive: true })
    } catch {
      this.#usable = false
    }
  }

  #isStale(path: string): boolean {
    try {
      // A clock that was set back leaves claims in the future.
      const ageMs = Date.now() - statSync(path).mtimeMs
      if (Math.abs(ageMs) > EXPIRES_MS) return true
      const [pid, host] = readFileSync(path, 'utf8').split(' ')
      if (host !== hostname()) return false
      return Number(pid) === process.pid ? !held.has(path) : !isRunning(Number(pid))
    } catch (error) {
      return codeOf(error) === 'ENOENT'
    }
  }
}
