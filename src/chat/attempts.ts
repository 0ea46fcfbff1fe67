/** @file Further attempts of a call: how long they wait, and what the error of the last one says. */

import { JudgeError } from '../util/errors.ts'

/**
 * Bound of the pause before an attempt, which doubles with each: full jitter waits uniformly between nothing and it (AWS Architecture
 * Blog, "Exponential Backoff And Jitter", 2015).
 */
export const longestPauseMs = (
  { backoffMs, longestBackoffMs }: { backoffMs: number; longestBackoffMs: number },
  attempts: number,
  last: JudgeError | null,
): number => {
  // An endpoint that said when to come back stays alone for that time; the call only must not come back with all others.
  const doublings = last?.retryAfterMs === undefined ? attempts - 1 : 0
  return Math.min(longestBackoffMs, backoffMs * 2 ** doublings)
}

/** The last error, saying how many attempts there were; any other comes back as it is. */
export const finalError = <E>(error: E, attempts: number): E | JudgeError => {
  if (!(error instanceof JudgeError) || attempts <= 1) return error
  const { kind, status, retryAfterMs, retryable, fatal } = error
  const message = `${error.message} (attempt ${attempts} of ${attempts})`
  return new JudgeError(kind, message, { status, retryAfterMs, retryable, fatal, attempts, cause: error })
}
