/** @file Predicates over arithmetic: what they are decided on, and what their places hold. */

import type { Predicate } from '../../thinking-grammar/predicate.ts'
import type { Calculation, ChainOfThought, Step } from '../lines.ts'
import type { ArithmeticProblem } from '../problem.ts'

/** What predicates are decided on. */
export interface Evidence {
  problem: ArithmeticProblem
  thinking: ChainOfThought
  /** Steps that calculate. */
  calculations: readonly Step[]
  /** Which operation of the question each step begins at; null where it fits nowhere, and for jumps. */
  places: readonly (number | null)[]
  /** Every check with the step that it is of. */
  checks: readonly { step: Step; check: Calculation }[]
  /** What the response answered; null where it did not, and where the answer is masked. */
  answer: number | null
}

/** What a place in a sentence may hold: numbers, and operations as `* 3`. */
export type Slot = 'count' | 'place' | 'digit' | 'operation'

export type ArithmeticPredicate = Predicate<Evidence>
