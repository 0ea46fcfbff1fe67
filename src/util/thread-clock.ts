/**
 * @file How long a thread has really been computing. On a machine that other work wants too, the clock on the wall says
 * little about a job; Linux tells the time that a thread had a core.
 */

import { readFileSync, readlinkSync } from 'node:fs'

/** Where the system tells of this thread, also to other threads; null where it does not. */
export const threadFile = (): string | null => {
  try {
    return `/proc/${readlinkSync('/proc/thread-self')}/schedstat`
  } catch {
    return null
  }
}

/** Milliseconds that a thread had a core, since it began; null where that is not known. */
export const coreMs = (file: string | null): number | null => {
  if (file === null) return null
  try {
    const ms = Number(readFileSync(file, 'utf8').split(' ', 1)[0]) / 1e6
    return Number.isFinite(ms) ? ms : null
  } catch {
    return null
  }
}

/** Without a core for so many times its budget, a job is over all the same: it waits for something that never comes. */
const PATIENCE = 10

/** Whether a job is over its budget: by the time that it had a core where that is known, else by the clock. */
export const isOver = (budgetMs: number, passedMs: number, computedMs: number | null): boolean =>
  passedMs > budgetMs && (computedMs === null || computedMs > budgetMs || passedMs > PATIENCE * budgetMs)

/** Most work is over before it is worth a look at its core time. */
const LOOK_AFTER_MS = 20

/** The budget of a piece of work on this thread, from now on. */
export class WorkBudget {
  readonly #budgetMs: number
  readonly #file: string | null
  readonly #sinceMs = performance.now()
  /** Core time at the first look that was worth a system call, less what may have been used before. */
  #baseMs: number | null = null

  /** @param file of this thread */
  constructor(budgetMs: number, file: string | null) {
    this.#budgetMs = budgetMs
    this.#file = file
  }

  isSpent(): boolean {
    const passedMs = performance.now() - this.#sinceMs
    return passedMs >= LOOK_AFTER_MS && isOver(this.#budgetMs, passedMs, this.#computedMs(passedMs))
  }

  /** Milliseconds that it took so far: of core time where that is known and worth a look. */
  usedMs(): number {
    const passedMs = performance.now() - this.#sinceMs
    return passedMs < LOOK_AFTER_MS ? passedMs : (this.#computedMs(passedMs) ?? passedMs)
  }

  #computedMs(passedMs: number): number | null {
    const nowMs = coreMs(this.#file)
    if (nowMs !== null) this.#baseMs ??= nowMs - passedMs
    return nowMs === null || this.#baseMs === null ? null : nowMs - this.#baseMs
  }
}
