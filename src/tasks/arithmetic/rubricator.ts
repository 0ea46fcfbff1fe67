/** @file A scripted rubricator: rubrics of the grammar for one response, rejected until the response is below the middle. */

import type { Rng } from '../../util/rng.ts'
import {
  type Evidence,
  isMet,
  OUTCOME_PREDICATES,
  PREDICATES,
  type Predicate,
  readCriterion,
  type Slot,
  sentenceWith,
  slotsOf,
} from './predicates/index.ts'
import type { ArithmeticProblem } from './problem.ts'
import { itemPiece, PIECES, pointsPiece } from './vocabulary.ts'

/** A criterion as a rubricator writes it. */
export interface Proposed {
  predicate: Predicate
  text: string
  points: number
}

export interface RubricatorHabits {
  /** Fewest and most criteria. Default 5 to 8. */
  criteria: { min: number; max: number }
  /** Chance that a predicate that should be rewarded is penalised, or the other way round. */
  wrongSign: number
  /** Whether it also asks for outcomes. */
  outcomes: boolean
}

export const DEFAULT_RUBRICATOR: RubricatorHabits = {
  criteria: { min: 5, max: 8 },
  wrongSign: 0.15,
  outcomes: false,
}

const slotValue = (slot: Slot, { operations }: ArithmeticProblem, rng: Rng): string => {
  if (slot === 'digit') return String(rng.int(10))
  if (slot === 'place') return String(1 + rng.int(operations.length))
  if (slot === 'count') return String(Math.max(1, operations.length - 2 + rng.int(5)))
  const { operator, operand } = rng.pick(operations)
  return `${operator} ${operand}`
}

const ALL_PREDICATES = [...PREDICATES, ...OUTCOME_PREDICATES]

/**
 * A criterion drawn from the grammar, about the question at hand.
 * @param among the predicates that it may be about; by default all, those about outcomes where the habits have it so
 */
export const propose = (
  problem: ArithmeticProblem,
  { wrongSign, outcomes }: RubricatorHabits,
  rng: Rng,
  among: readonly Predicate[] = outcomes ? ALL_PREDICATES : PREDICATES,
): Proposed => {
  const predicate = rng.pick(among)
  const text = sentenceWith(
    predicate,
    slotsOf(predicate).map(slot => slotValue(slot, problem, rng)),
  )
  const good = predicate.expected === 'neutral' ? rng.next() < 0.7 : predicate.expected === 'good'
  const sign = good !== rng.next() < wrongSign ? 1 : -1
  return { predicate, text, points: sign * (1 + rng.int(5)) }
}

/** Points of a response, and the bounds of what a rubric gives. */
export const scoreOf = (rubric: readonly Proposed[], evidence: Evidence) => {
  const sum = (items: readonly Proposed[]) => items.reduce((total, { points }) => total + points, 0)
  return {
    maximum: sum(rubric.filter(({ points }) => points > 0)),
    minimum: sum(rubric.filter(({ points }) => points < 0)),
    current: sum(rubric.filter(({ text }) => isMet(readCriterion(text)!, evidence))),
  }
}

/** The rubric as the JSON that a rubricator answers with. */
export const rubricText = (
  rubric: readonly Proposed[],
  { maximum, minimum, current }: { maximum: number; minimum: number; current: number },
): string => {
  const items = rubric.map(
    ({ predicate, text, points }) => itemPiece(predicate.category) + text + pointsPiece(points),
  )
  return `${PIECES.rubricOpen}${items.join(PIECES.comma)}${PIECES.maximum}${maximum}${PIECES.minimum}${minimum}${PIECES.current}${current}${PIECES.rubricClose}`
}

const MOST_TRIES = 200

/**
 * A rubric for a response that scores below the middle of what it gives, with different criteria, as JSON; null where none
 * was found.
 */
export const demonstrateRubric = (
  problem: ArithmeticProblem,
  evidence: Evidence,
  habits: RubricatorHabits,
  rng: Rng,
): { text: string; rubric: readonly Proposed[]; tries: number } | null => {
  const { min, max } = habits.criteria
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const count = min + rng.int(max - min + 1)
    const drawn = Array.from({ length: count }, () => propose(problem, habits, rng))
    const rubric = drawn.filter(({ text }, i) => drawn.findIndex(other => other.text === text) === i)
    if (rubric.length < min) continue
    const score = scoreOf(rubric, evidence)
    if (score.current >= (score.maximum + score.minimum) / 2) continue
    return { text: rubricText(rubric, score), rubric, tries }
  }
  return null
}
