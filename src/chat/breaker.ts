/** @file A circuit breaker: an endpoint that fails most calls is left alone for a while, then tried with one. */

import { z } from 'zod'
import { natural, positive } from '../util/setting-shapes.ts'

const MINIMUM_CALLS = 10

export const breakerSchema = z
  .strictObject({
    failureShare: z
      .number()
      .gt(0)
      .max(1)
      .default(0.75)
      .describe('Share of failures among the latest calls at which an endpoint is paused.'),
    window: natural.default(20).describe('Number of latest calls that this share is computed over.'),
    minimumCalls: natural
      .default(MINIMUM_CALLS)
      .describe('Fewest calls before an endpoint can be paused for its share of failures.'),
    pauseMs: positive.default(500).describe('Length of the first pause.'),
    longestPauseMs: positive
      .default(15_000)
      .describe('Longest pause. It doubles each time the endpoint fails again.'),
  })
  .refine(({ window, minimumCalls }) => minimumCalls <= window, {
    path: ['minimumCalls'],
    error: `no more calls than window (${MINIMUM_CALLS} where it is not set); with more no endpoint is ever left alone`,
  })
export type BreakerOptions = z.output<typeof breakerSchema>

export const BREAKER_DEFAULTS = breakerSchema.parse({})

export type BreakerState = 'closed' | 'open' | 'half-open'

/** Calls that began before it last opened or closed are told by their epoch: what becomes of them says nothing new. */
export class Breaker {
  readonly #options: BreakerOptions
  #recent: boolean[] = []
  #next = 0
  #failures = 0
  /** Grows whenever the state changes, and with every further trial. */
  #epoch = 0
  /** Epoch of the last change of state: what began since then may say that the endpoint works. */
  #since = 0
  #state: BreakerState = 'closed'
  #trialRuns = false
  #trialSinceMs = 0
  #pauseMs: number
  #openUntilMs = 0
  /** Since when it has not been closed; null while closed. */
  brokenSinceMs: number | null = null
  timesOpened = 0

  constructor(options: BreakerOptions = BREAKER_DEFAULTS) {
    this.#options = options
    this.#pauseMs = options.pauseMs
  }

  state(nowMs: number): BreakerState {
    if (this.#state === 'open' && nowMs >= this.#openUntilMs) this.#state = 'half-open'
    return this.#state
  }

  /**
   * Milliseconds until a call may be made; 0 is now. While a trial runs whose end decides, a further one may begin after a pause:
   * an endpoint that works again must not wait for a trial that hangs, or that happens to be slow.
   */
  waitMs(nowMs: number): number {
    switch (this.state(nowMs)) {
      case 'closed':
        return 0
      case 'open':
        return this.#openUntilMs - nowMs
      case 'half-open':
        return this.#trialRuns ? Math.max(0, this.#trialSinceMs + this.#pauseMs - nowMs) : 0
    }
  }

  /** A call begins; hand the number it returns to `success`, `failure` or `withdraw`. */
  begin(nowMs: number): number {
    if (this.state(nowMs) === 'half-open') {
      if (this.#trialRuns) {
        // What becomes of the earlier trial is no failure any more; its answer still counts.
        this.#epoch++
        this.#lengthenPause()
      }
      this.#trialRuns = true
      this.#trialSinceMs = nowMs
    }
    return this.#epoch
  }

  /** The endpoint answered, whatever it said: also an answer that only says "slower" or "not like this". */
  success(epoch: number): void {
    if (epoch < this.#since) return
    if (this.#state === 'closed') {
      this.#record(false)
      return
    }
    this.#reset('closed')
    this.#pauseMs = this.#options.pauseMs
    this.brokenSinceMs = null
  }

  failure(epoch: number, nowMs: number): void {
    if (epoch !== this.#epoch) return
    if (this.state(nowMs) === 'half-open') {
      this.#lengthenPause()
      this.open(nowMs)
    } else if (this.#state === 'closed') {
      this.#record(true)
      const { failureShare, minimumCalls } = this.#options
      const calls = this.#recent.length
      if (calls >= minimumCalls && this.#failures >= failureShare * calls) this.open(nowMs)
    }
  }

  /** The call ended without saying anything about the endpoint: its caller went away. */
  withdraw(epoch: number): void {
    if (epoch === this.#epoch) this.#trialRuns = false
  }

  /** Opens at once: for failures that every call will share. */
  open(nowMs: number): void {
    this.#reset('open')
    this.#openUntilMs = nowMs + this.#pauseMs
    this.brokenSinceMs ??= nowMs
    this.timesOpened++
  }

  #lengthenPause(): void {
    this.#pauseMs = Math.min(this.#pauseMs * 2, this.#options.longestPauseMs)
  }

  #reset(state: BreakerState): void {
    this.#state = state
    this.#since = ++this.#epoch
    this.#trialRuns = false
    this.#recent = []
    this.#next = 0
    this.#failures = 0
  }

  #record(failed: boolean): void {
    if (this.#recent[this.#next]) this.#failures--
    this.#recent[this.#next] = failed
    if (failed) this.#failures++
    this.#next = (this.#next + 1) % this.#options.window
  }
}
