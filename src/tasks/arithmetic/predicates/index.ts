/** @file The grammar of criteria about thinking on the arithmetic task: sentences that are read and executed exactly. */

import { CriterionGrammar } from '../../thinking-grammar/grammar.ts'
import type { PlaceValues } from '../../thinking-grammar/predicate.ts'
import { type Calculation, placesOf, readThinking, type Step } from '../lines.ts'
import type { ArithmeticProblem } from '../problem.ts'
import { ARITHMETIC_CLARITY } from './clarity.ts'
import { ARITHMETIC_EFFICIENCY } from './efficiency.ts'
import { ARITHMETIC_OTHER, ARITHMETIC_OUTCOME } from './other.ts'
import { ARITHMETIC_PLANNING } from './planning.ts'
import type { ArithmeticPredicate, Evidence, Slot } from './predicate.ts'
import { ARITHMETIC_VALIDATION } from './validation.ts'

export { isMet } from '../../thinking-grammar/grammar.ts'
export { THINKING_CATEGORIES } from '../../thinking-grammar/predicate.ts'
export type { ArithmeticPredicate, Evidence, Slot } from './predicate.ts'

/** All predicates but those that stand in for the outcome. */
export const PREDICATES: readonly ArithmeticPredicate[] = [
  ...ARITHMETIC_PLANNING,
  ...ARITHMETIC_VALIDATION,
  ...ARITHMETIC_CLARITY,
  ...ARITHMETIC_EFFICIENCY,
  ...ARITHMETIC_OTHER,
]

/** Those that read the end of the thinking, or the answer. */
export const OUTCOME_PREDICATES: readonly ArithmeticPredicate[] = ARITHMETIC_OUTCOME

export const ARITHMETIC_GRAMMAR = new CriterionGrammar<Evidence, Slot>({
  predicates: PREDICATES,
  outcomes: OUTCOME_PREDICATES,
  slots: { count: '[0-9]', place: '[1-9]', digit: '[0-9]', operation: '[+-] [1-9]|\\* [2-9]' },
})

/** The places of a sentence, in order. */
export const slotsOf = (predicate: ArithmeticPredicate): Slot[] => ARITHMETIC_GRAMMAR.slotsOf(predicate)

/** The sentence with its places filled. */
export const sentenceWith = (predicate: ArithmeticPredicate, values: PlaceValues): string =>
  ARITHMETIC_GRAMMAR.sentenceWith(predicate, values)

/** Reads a criterion; null where it is no sentence of the grammar. Case, blanks around it and a full stop do not matter. */
export const readCriterion = (text: string) => ARITHMETIC_GRAMMAR.read(text)

/** What predicates are decided on, made once for a response. @param answer null where it is masked */
export const evidenceOf = (problem: ArithmeticProblem, text: string, answer: number | null): Evidence => {
  const thinking = readThinking(problem, text)
  return {
    problem,
    thinking,
    calculations: thinking.steps.filter(({ jump }) => !jump),
    places: placesOf(problem, thinking.steps),
    checks: thinking.steps.flatMap((step: Step) =>
      step.checks.map((check: Calculation) => ({ step, check })),
    ),
    answer,
  }
}
