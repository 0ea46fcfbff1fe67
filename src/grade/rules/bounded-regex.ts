/**
 * @file Regular expressions that cannot hang: a pattern comes from a rubric and a text from a model, and together they may
 * need exponential time. Each search runs under a time limit that V8 itself enforces inside the match; a search that is cut
 * off has no result, which is not the same as no match.
 */

import { createContext, Script } from 'node:vm'
import { GradusError } from '../../util/errors.ts'

/** Longest pattern taken, characters. */
export const MAX_PATTERN = 2_000

/** Limit of one search, and what all searches of one pattern may lose to the limit before it is given up. */
const SEARCH_LIMIT_MS = 50
const PATTERN_BUDGET_MS = 500

/** A search that was cut off: nothing is known. */
export class RegexTimeout extends GradusError {}

// The context is no sandbox and need not be: only the regular expression runs in it, never text as code. It is there because
// a script's time limit is the one way to interrupt a match without a thread of its own.
const context = createContext({ pattern: /x/, text: '', limit: 1, count: 0 })
const counting = new Script(`
  pattern.lastIndex = 0
  count = 0
  while (count < limit) {
    const found = pattern.exec(text)
    if (found === null) break
    count++
    if (found[0] === '') pattern.lastIndex++
  }
  count`)

const isTimeout = (error: unknown): boolean =>
  (error as { code?: string } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

export class BoundedRegex {
  readonly #pattern: RegExp
  #lostMs = 0

  /** @throws SyntaxError for a pattern that is none. */
  constructor(source: string, flags = '') {
    this.#pattern = new RegExp(source, flags.includes('g') ? flags : `${flags}g`)
  }

  /**
   * Matches in a text, counted up to `limit`.
   * @throws RegexTimeout when the search takes too long, and at once when the pattern has wasted its time before.
   */
  count(text: string, limit = 1): number {
    const source = this.#pattern.source.slice(0, 60)
    if (this.#lostMs >= PATTERN_BUDGET_MS)
      throw new RegexTimeout(`the pattern ${source} was given up after ${this.#lostMs} ms without a result`)
    Object.assign(context, { pattern: this.#pattern, text, limit })
    try {
      return counting.runInContext(context, { timeout: SEARCH_LIMIT_MS }) as number
    } catch (error) {
      if (!isTimeout(error)) throw error
      this.#lostMs += SEARCH_LIMIT_MS
      throw new RegexTimeout(`the pattern ${source} found nothing within ${SEARCH_LIMIT_MS} ms`)
    } finally {
      context.text = ''
    }
  }

  test(text: string): boolean {
    return this.count(text) > 0
  }

  /** The pattern as JavaScript writes it; ajv knows patterns apart by it. */
  toString(): string {
    return String(this.#pattern)
  }
}
