/** @file What the rules of several responses may take together, so that one request cannot have the workers for itself. */

import { setMaxListeners } from 'node:events'
import { GradusError } from '../../util/errors.ts'

/** The reason given to what is still waiting when an allowance is used up. */
export class AllowanceSpent extends GradusError {}

/** Shared by all gradings that it is given to, in their `GradeOptions`. */
export class RuleAllowance {
  /** What becomes of rules that it does not reach for: no verdicts, or `AllowanceSpent` thrown by the grading. */
  readonly onSpent: 'nulls' | 'error'
  readonly #spent = new AbortController()
  #leftMs: number
  readonly #why: string

  /**
   * @param totalMs of core time where the system tells it, else of the clock
   * @param name the setting, for explanations
   */
  constructor(totalMs: number, name: string, onSpent: 'nulls' | 'error' = 'nulls') {
    this.onSpent = onSpent
    this.#leftMs = totalMs
    this.#why = `the rules of this request took ${totalMs} ms (${name})`
    setMaxListeners(0, this.#spent.signal)
  }

  /** Aborted with `AllowanceSpent` when nothing is left. */
  get signal(): AbortSignal {
    return this.#spent.signal
  }

  charge(ms: number): void {
    this.#leftMs -= ms
    if (this.#leftMs <= 0) this.#spent.abort(new AllowanceSpent(this.#why))
  }
}
