/** @file What each predicate is worth in a population of responses: how far meeting it goes with being right. */

import { Rng } from '../../util/rng.ts'
import { partThinking } from '../thinking.ts'
import { range } from '../thinking-grammar/rubric-pieces.ts'
import { DEFAULT_ERRORS, demonstrate, drawHabits } from './demonstrations.ts'
import { answeredDigit } from './format.ts'
import {
  ARITHMETIC_GRAMMAR,
  type ArithmeticPredicate,
  evidenceOf,
  isMet,
  PREDICATES,
  type Slot,
} from './predicates.ts'
import { type ArithmeticProblem, answerOf, arithmeticProblem } from './problem.ts'

/** Responses of one policy to one problem. */
export interface PopulationGroup {
  problem: ArithmeticProblem
  responses: readonly { thinking: string; answer: number | null }[]
}

/** All that a place may hold for a problem. */
const slotValues = (slot: Slot, { operations }: ArithmeticProblem): string[] => {
  if (slot === 'operation') return operations.map(({ operator, operand }) => `${operator} ${operand}`)
  if (slot === 'place') return range(1, operations.length).map(String)
  if (slot === 'digit') return range(0, 9).map(String)
  return range(Math.max(1, operations.length - 2), operations.length + 2).map(String)
}

/** All ways to fill a sentence's places for a problem; sentences have one place at most. */
const valuesOf = (predicate: ArithmeticPredicate, problem: ArithmeticProblem): string[][] => {
  const [slot] = ARITHMETIC_GRAMMAR.slotsOf(predicate)
  return slot === undefined ? [[]] : slotValues(slot, problem).map(value => [value])
}

/** Sums of a correlation within groups: every group is centred by itself, so that hard problems do not count as a cause. */
class WithinGroups {
  #met = 0
  #right = 0
  #both = 0

  add(met: readonly number[], right: readonly number[]): void {
    const n = met.length
    const meanMet = met.reduce((a, b) => a + b, 0) / n
    const meanRight = right.reduce((a, b) => a + b, 0) / n
    for (let i = 0; i < n; i++) {
      this.#met += (met[i] - meanMet) ** 2
      this.#right += (right[i] - meanRight) ** 2
      this.#both += (met[i] - meanMet) * (right[i] - meanRight)
    }
  }

  /** Null where one of the two never varies within a group. */
  get correlation(): number | null {
    const spread = Math.sqrt(this.#met * this.#right)
    return spread < 1e-12 ? null : this.#both / spread
  }
}

/**
 * Pearson correlation of meeting each predicate with being right, within the responses to a problem and pooled over problems
 * and over all values of a sentence's places, by sentence; null where that cannot vary.
 */
export const populationCorrelations = (
  groups: readonly PopulationGroup[],
): ReadonlyMap<string, number | null> => {
  const read = groups.map(({ problem, responses }) => ({
    problem,
    right: responses.map(({ answer }) => Number(answer === answerOf(problem))),
    evidence: responses.map(({ thinking }) => evidenceOf(problem, thinking, null)),
  }))
  return new Map(
    PREDICATES.map(predicate => {
      const sums = new WithinGroups()
      for (const { problem, right, evidence } of read)
        for (const values of valuesOf(predicate, problem))
          sums.add(
            evidence.map(each => Number(isMet({ predicate, values }, each))),
            right,
          )
      return [predicate.sentence, sums.correlation]
    }),
  )
}

/**
 * What a criterion is worth in the population: its predicate's correlation, inverted for a penalty; null for what is no
 * sentence of the grammar, and where the population cannot tell.
 */
export const worthOf = (
  { text, points }: { text: string; points: number },
  correlations: ReadonlyMap<string, number | null>,
): number | null => {
  const reading = ARITHMETIC_GRAMMAR.read(text)
  const correlation = reading && (correlations.get(reading.predicate.sentence) ?? null)
  return correlation === null ? null : Math.sign(points) * correlation
}

/** Problems and responses to each of the population that everything is measured against. */
const SCRIPTED = { problems: 200, responses: 8 }

/**
 * What predicates are worth among the scripted reasoner's own demonstrations: a population that no training changes, so that
 * rubrics of different policies can be compared. Worked out anew at every call.
 */
export const scriptedCorrelations = (): ReadonlyMap<string, number | null> =>
  populationCorrelations(
    Array.from({ length: SCRIPTED.problems }, (_, i) => {
      const problem = arithmeticProblem('population', i)
      const responses = Array.from({ length: SCRIPTED.responses }, (_, g) => {
        const rng = new Rng(`population/${i}/${g}`)
        const { text } = demonstrate(problem, drawHabits(rng), DEFAULT_ERRORS, rng)
        const response = partThinking(text)
        return { thinking: response.thinking, answer: answeredDigit(response) }
      })
      return { problem, responses }
    }),
  )
