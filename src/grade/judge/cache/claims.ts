/** @file Claims: a process that asks a question says so in the folder, and the others wait for its verdict. */

import { rmdirSync, rmSync } from 'node:fs'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isRunning } from '../../../util/atomic.ts'

/** An older claim is that of a process that went away, or of a question that takes too long to be waited for. */
const EXPIRES_MS = 60_000

/** By path: how many of this process hold a claim, or try to. */
const ours = new Map<string, number>()

const count = (path: string, change: 1 | -1): void => {
  const now = (ours.get(path) ?? 0) + change
  if (now > 0) ours.set(path, now)
  else ours.delete(path)
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/**
 * A claim is advice, not a lock: where one is lost, taken over too early or cannot be written, a question is asked twice, and
 * nothing else happens. Files are made and removed off the main thread, where a slow disk holds nobody up.
 */
export class Claims {
  readonly #folder: string
  /** Held, or still being removed. */
  readonly #files = new Set<string>()
  #usable = true

  /** @param folder of the cache; claims are files in a folder inside it, which is there only while there are any */
  constructor(folder: string) {
    this.#folder = join(folder, 'claims')
  }

  /** Claims a key; false while another one holds it. */
  async take(digest: string): Promise<boolean> {
    const path = join(this.#folder, digest)
    count(path, 1)
    const taken = await this.#write(path)
    if (taken !== 'held') count(path, -1)
    return taken !== 'refused'
  }

  /** Gives a claim back; does nothing for one that was not taken here. */
  release(digest: string): void {
    const path = join(this.#folder, digest)
    if (!this.#files.has(path)) return
    const gone = () => {
      if (this.#files.delete(path)) count(path, -1)
    }
    rm(path, { force: true }).then(gone, gone)
  }

  /** Removes what is left of the claims made here. */
  close(): void {
    this.#usable = false
    try {
      for (const path of this.#files) {
        rmSync(path, { force: true })
        count(path, -1)
      }
      this.#files.clear()
      rmdirSync(this.#folder)
    } catch {
      // Others' claims are in it, or it was never made.
    }
  }

  async #write(path: string): Promise<'held' | 'refused' | 'unwritten'> {
    for (let attempt = 0; this.#usable && attempt < 3; attempt++) {
      try {
        await writeFile(path, `${process.pid} ${hostname()}`, { flag: 'wx' })
        this.#files.add(path)
        return 'held'
      } catch (error) {
        if (codeOf(error) === 'EEXIST') {
          if (!(await isStale(path))) return 'refused'
          await rm(path, { force: true })
        } else if (codeOf(error) === 'ENOENT') await this.#makeFolder()
        else this.#usable = false
      }
    }
    return 'unwritten'
  }

  async #makeFolder(): Promise<void> {
    try {
      await mkdir(this.#folder, { recursive: true })
    } catch {
      this.#usable = false
    }
  }
}

const isStale = async (path: string): Promise<boolean> => {
  try {
    // A clock that was set back leaves claims in the future.
    const ageMs = Date.now() - (await stat(path)).mtimeMs
    if (Math.abs(ageMs) > EXPIRES_MS) return true
    const [pid, host] = (await readFile(path, 'utf8')).split(' ')
    if (host !== hostname()) return false
    // Nobody here but who asks: left by an earlier process with this number.
    return Number(pid) === process.pid ? (ours.get(path) ?? 0) <= 1 : !isRunning(Number(pid))
  } catch (error) {
    return codeOf(error) === 'ENOENT'
  }
}
