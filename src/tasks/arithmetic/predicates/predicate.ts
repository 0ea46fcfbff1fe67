/** @file What a predicate over a chain of thought is: a sentence with places for parameters, and how it is decided. */

import type { Calculation, Step, Thinking } from '../lines.ts'
import type { ArithmeticProblem } from '../problem.ts'

/** The five categories of a rubricator's criteria (RLCER Fig. 9; spec 2.2). */
export const CATEGORIES = ['planning', 'validation', 'clarity', 'efficiency', 'other'] as const
export type Category = (typeof CATEGORIES)[number]

/** What predicates are decided on. */
export interface Evidence {
  problem: ArithmeticProblem
  thinking: Thinking
  /** Steps that calculate. */
  calculations: readonly Step[]
  /** Which operation of the question each step begins at; null where it fits nowhere, and for jumps. */
  places: readonly (number | null)[]
  /** Every check with the step that it is of. */
  checks: readonly { step: Step; check: Calculation }[]
  /** What the response answered; null where it did not, and where the answer is masked. */
  answer: number | null
}

/** What a place in a sentence may hold. */
export type Slot = 'count' | 'place' | 'digit' | 'operation'

/** Values of a sentence's places, in order: numbers, and operations as `* 3`. */
export type Values = readonly string[]

export interface Predicate {
  category: Category
  /** The sentence; `{count}`, `{place}`, `{digit}`, `{operation}` are its places. */
  sentence: string
  /** What its author expects of it: to go with right answers, with wrong ones, or with neither. */
  expected: 'good' | 'bad' | 'neutral'
  /** Whether it reads the final result or the answer, and so may stand in for the outcome (spec 2.4, ambiguity 2b). */
  outcome?: boolean
  test(evidence: Evidence, values: Values): boolean
}

/** A predicate without places. */
export const fixed = (
  category: Category,
  expected: Predicate['expected'],
  sentence: string,
  test: (evidence: Evidence) => boolean,
): Predicate => ({ category, expected, sentence, test })

/** A predicate whose one place holds a number. */
export const counted = (
  category: Category,
  expected: Predicate['expected'],
  sentence: string,
  test: (evidence: Evidence, value: number) => boolean,
): Predicate => ({
  category,
  expected,
  sentence,
  test: (evidence, [value]) => test(evidence, Number(value)),
})
