/** @file Refusals that every call would meet, or only this one: what went before tells them apart. */

import { JudgeError } from '../util/errors.ts'

export const REFUSALS_IN_A_ROW = 10

/**
 * Of an endpoint that never answered, a refusal (no such model, no valid key) is every call's. Of one that did answer it may
 * be a stray one: a bad machine behind a balancer, a moment in which keys are exchanged. So many in a row are none.
 */
export class Refusals {
  readonly #most: number
  #answered = false
  #inARow = 0

  /** @param most in a row, after which they are taken to be every call's */
  constructor(most = REFUSALS_IN_A_ROW) {
    this.#most = most
  }

  get everAnswered(): boolean {
    return this.#answered
  }

  answered(): void {
    this.#answered = true
    this.#inARow = 0
  }

  /** It said something else, were it that it is busy: whoever is refused altogether is not told that. */
  interrupted(): void {
    this.#inARow = 0
  }

  /** A fatal error as it is to be taken: as it is, or as the failure of a single call, which may be tried again. */
  taken(error: JudgeError): JudgeError {
    this.#inARow++
    if (!this.#answered || this.#inARow >= this.#most) return error
    const { kind, message, status, retryAfterMs } = error
    return new JudgeError(kind, message, {
      status,
      retryAfterMs,
      retryable: true,
      fatal: false,
      cause: error,
    })
  }
}
