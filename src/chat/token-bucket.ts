/** @file So many a minute, evenly: a bucket that fills with time and may be overdrawn by what was not known before. */

/** Longest burst: what a tenth of a second earns (and always one). Timers are late by a few milliseconds; this makes up for it. */
const BURST_SHARE_OF_MINUTE = 1 / 600
const MINUTE_MS = 60_000

/**
 * Never lets more than `perMinute` pass in any 60 s when each amount is what it was said to be: the first burst is taken off
 * the rate. An amount above the burst passes when the bucket is full and leaves a debt.
 */
export class TokenBucket {
  readonly #unlimited: boolean
  readonly #burst: number
  readonly #perMs: number
  #level: number
  #atMs: number

  /** @param perMinute above 0; Infinity for no limit */
  constructor(perMinute: number, nowMs: number) {
    this.#unlimited = perMinute === Number.POSITIVE_INFINITY
    this.#burst = Math.max(1, perMinute * BURST_SHARE_OF_MINUTE)
    this.#perMs = (perMinute - (this.#burst - 1)) / MINUTE_MS
    this.#level = this.#burst
    this.#atMs = nowMs
  }

  /** Milliseconds until `amount` may pass; 0 is now. */
  waitMs(amount: number, nowMs: number): number {
    if (this.#unlimited) return 0
    this.#fill(nowMs)
    const missing = Math.min(amount, this.#burst) - this.#level
    // A hair of rounding must not cost another timer.
    return missing <= 1e-9 ? 0 : missing / this.#perMs
  }

  /** Takes `amount`; below zero is a debt that time pays. A negative amount gives back. */
  take(amount: number, nowMs: number): void {
    if (this.#unlimited) return
    this.#fill(nowMs)
    this.#level = Math.min(this.#burst, this.#level - amount)
  }

  #fill(nowMs: number): void {
    this.#level = Math.min(this.#burst, this.#level + (nowMs - this.#atMs) * this.#perMs)
    this.#atMs = nowMs
  }
}
