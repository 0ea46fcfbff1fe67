/** @file The scripted rubricator of arithmetic. */

import type { Rng } from '../../util/rng.ts'
import { openPiece } from '../thinking-grammar/rubric-pieces.ts'
import {
  DEFAULT_RUBRICATOR,
  type ProposedCriterion as ProposedAbout,
  type RubricatorHabits,
  ScriptedRubricator,
} from '../thinking-grammar/rubricator.ts'
import { ARITHMETIC_GRAMMAR, type ArithmeticPredicate, type Evidence, type Slot } from './predicates.ts'
import type { ArithmeticProblem } from './problem.ts'
import { DOMAIN } from './vocabulary.ts'

export { DEFAULT_RUBRICATOR, type RubricatorHabits }

/** A criterion as a rubricator writes it. */
type Proposed = ProposedAbout<Evidence>

const slotValue = (slot: Slot, { operations }: ArithmeticProblem, rng: Rng): string => {
  if (slot === 'digit') return String(rng.int(10))
  if (slot === 'place') return String(1 + rng.int(operations.length))
  if (slot === 'count') return String(Math.max(1, operations.length - 2 + rng.int(5)))
  const { operator, operand } = rng.pick(operations)
  return `${operator} ${operand}`
}

const rubricator = new ScriptedRubricator<ArithmeticProblem, Evidence, Slot>({
  grammar: ARITHMETIC_GRAMMAR,
  slotValue,
  open: openPiece(DOMAIN),
})

/** A criterion drawn from the grammar, about the question at hand. @param among the predicates that it may be about */
export const propose = (
  problem: ArithmeticProblem,
  habits: RubricatorHabits,
  rng: Rng,
  among?: readonly ArithmeticPredicate[],
): Proposed => rubricator.propose(problem, habits, rng, among)

/**
 * A rubric for a response that scores below the middle of what it gives, with different criteria, as JSON; null where none
 * was found.
 */
export const demonstrateRubric = (
  problem: ArithmeticProblem,
  evidence: Evidence,
  habits: RubricatorHabits,
  rng: Rng,
) => rubricator.demonstrate(problem, evidence, habits, rng)
