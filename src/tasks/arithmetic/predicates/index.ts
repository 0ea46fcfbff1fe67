/** @file The grammar of criteria about thinking on the arithmetic task: sentences that are read and executed exactly. */

import { type Calculation, placesOf, readThinking, type Step } from '../lines.ts'
import type { ArithmeticProblem } from '../problem.ts'
import { CLARITY } from './clarity.ts'
import { EFFICIENCY } from './efficiency.ts'
import { OTHER, OUTCOME } from './other.ts'
import { PLANNING } from './planning.ts'
import type { Evidence, Predicate, Slot, Values } from './predicate.ts'
import { VALIDATION } from './validation.ts'

export {
  CATEGORIES,
  type Category,
  type Evidence,
  type Predicate,
  type Slot,
  type Values,
} from './predicate.ts'

/** All predicates but those that stand in for the outcome. */
export const PREDICATES: readonly Predicate[] = [
  ...PLANNING,
  ...VALIDATION,
  ...CLARITY,
  ...EFFICIENCY,
  ...OTHER,
]

/** Those that read the end of the thinking, or the answer. */
export const OUTCOME_PREDICATES: readonly Predicate[] = OUTCOME

/** What may stand in a place. */
const SLOTS: Readonly<Record<Slot, string>> = {
  count: '[0-9]',
  place: '[1-9]',
  digit: '[0-9]',
  operation: '[+-] [1-9]|\\* [2-9]',
}

const SLOT = /\{(count|place|digit|operation)\}/g

/** The places of a sentence, in order. */
export const slotsOf = ({ sentence }: Predicate): Slot[] =>
  [...sentence.matchAll(SLOT)].map(([, slot]) => slot as Slot)

/** The sentence with its places filled. */
export const sentenceWith = ({ sentence }: Predicate, values: Values): string => {
  const left = [...values]
  return sentence.replace(SLOT, () => left.shift() ?? '')
}

const patterns = [...PREDICATES, ...OUTCOME_PREDICATES].map(predicate => ({
  predicate,
  pattern: new RegExp(`^${predicate.sentence.replace(SLOT, (_, slot: Slot) => `(${SLOTS[slot]})`)}$`),
}))

/** A sentence of the grammar: which predicate, with which values. */
export interface Reading {
  predicate: Predicate
  values: Values
}

const readings = new Map<string, Reading | null>()
/** Sentences of the grammar are a few hundred; what else a policy writes must not fill the memory. */
const MOST_READINGS = 20_000

const read = (text: string): Reading | null => {
  for (const { predicate, pattern } of patterns) {
    const found = pattern.exec(text)
    if (found) return { predicate, values: found.slice(1) }
  }
  return null
}

/** Reads a criterion; null where it is no sentence of the grammar. Case, blanks around it and a full stop do not matter. */
export const readCriterion = (text: string): Reading | null => {
  const known = readings.get(text)
  if (known !== undefined) return known
  const found = text.length > 200 ? null : read(text.trim().toLowerCase().replace(/\.$/, ''))
  if (readings.size >= MOST_READINGS) readings.clear()
  readings.set(text, found)
  return found
}

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

/** Whether a response meets a criterion. */
export const isMet = ({ predicate, values }: Reading, evidence: Evidence): boolean =>
  predicate.test(evidence, values)
