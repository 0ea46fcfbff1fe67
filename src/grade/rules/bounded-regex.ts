/**
 * @file Regular expressions that cannot hang: a pattern comes from a rubric and a text from a model, and together they may
 * need exponential time. Each search runs under a time limit that V8 itself enforces inside the match; a search that is cut
 * off has no result, which is not the same as no match.
 */

import { createContext, Script } from 'node:vm'
import { GradusError } from '../../util/errors.ts'

/** Longest pattern taken, characters. */
export const MAX_PATTERN = 2_000

/** Limits of a search: a first one, and a second for when only the machine was busy. */
const SEARCH_LIMITS_MS = [50, 250] as const

/** What the searches of one pattern may lose to the limits before it is given up; each search that succeeds adds to it. */
const PATTERN_BUDGET_MS = 1_500
const BUDGET_PER_SEARCH_MS = 1

/** Without quantifiers, groups and references a search is over in one pass for each of a few characters. */
const PLAIN = /^(?:[^*+{}?()|\\]|\\[^1-9k]){0,100}$/

/** A search that was cut off: nothing is known. */
export class RegexTimeout extends GradusError {}

/** Matches counted up to `limit`. */
const countMatches = (pattern: RegExp, text: string, limit: number): number => {
  pattern.lastIndex = 0
  let count = 0
  while (count < limit) {
    const found = pattern.exec(text)
    if (found === null) break
    count++
    if (found[0] === '') pattern.lastIndex++
  }
  return count
}

// The context is no sandbox and need not be: only the regular expression runs in it, never text as code. It is there because
// a script's time limit is the one way to interrupt a match without a thread of its own.
const context = createContext({ countMatches, pattern: /x/, text: '', limit: 1 })
const counting = new Script('countMatches(pattern, text, limit)')

const isTimeout = (error: unknown): boolean =>
  (error as { code?: string } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

export class BoundedRegex {
  readonly #pattern: RegExp
  readonly #plain: boolean
  #budgetMs = PATTERN_BUDGET_MS

  /** @throws SyntaxError for a pattern that is none. */
  constructor(source: string, flags = '') {
    this.#pattern = new RegExp(source, flags.includes('g') ? flags : `${flags}g`)
    this.#plain = PLAIN.test(source)
  }

  /**
   * Matches in a text, counted up to `limit`.
   * @throws RegexTimeout when the search takes too long, and at once when the pattern has wasted its time before.
   */
  count(text: string, limit = 1): number {
    if (this.#plain) return countMatches(this.#pattern, text, limit)
    const source = this.#pattern.source.slice(0, 60)
    if (this.#budgetMs <= 0)
      throw new RegexTimeout(`the pattern ${source} was given up: it took too long too often`)
    for (const limitMs of SEARCH_LIMITS_MS) {
      const count = this.#countWithin(text, limit, limitMs)
      if (count !== null) {
        this.#budgetMs += BUDGET_PER_SEARCH_MS
        return count
      }
      this.#budgetMs -= limitMs
    }
    throw new RegexTimeout(`the pattern ${source} found nothing within ${SEARCH_LIMITS_MS.at(-1)} ms`)
  }

  /** Null when the time is over. */
  #countWithin(text: string, limit: number, timeout: number): number | null {
    Object.assign(context, { pattern: this.#pattern, text, limit })
    try {
      return counting.runInContext(context, { timeout }) as number
    } catch (error) {
      if (isTimeout(error)) return null
      throw error
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
