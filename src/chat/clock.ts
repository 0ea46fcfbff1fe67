/** @file Time as the transport sees it: a test hands in its own and years pass at once. */

export interface Clock {
  /** Milliseconds that never go back. */
  now(): number
  /** Milliseconds since 1970, for dates in headers. */
  date(): number
  /** Calls `wake` once after `delayMs`; returns the function that cancels it. */
  after(delayMs: number, wake: () => void): () => void
}

/** Longest delay of a Node timer; a longer one would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  after: (delayMs, wake) => {
    const timer = setTimeout(wake, Math.min(Math.max(delayMs, 0), LONGEST_DELAY_MS))
    return () => clearTimeout(timer)
  },
}
