/** @file A grammar of criteria about thinking: sentences that are read, and executed exactly. */

import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { remembered } from '../../util/remembered.ts'
import type { ThinkingVerifier, ThoughtResponse } from '../thinking.ts'

/** The five categories of a rubricator's criteria (RLCER Fig. 9). */
export const THINKING_CATEGORIES = ['planning', 'validation', 'clarity', 'efficiency', 'other'] as const
export type ThinkingCategory = (typeof THINKING_CATEGORIES)[number]

/** Values of a sentence's places, in order, as text. */
export type PlaceValues = readonly string[]

/** @typeParam Evidence what it is decided on, made once for a response */
export interface Predicate<Evidence> {
  category: ThinkingCategory
  /** The sentence; a place is the name of what it may hold in braces, as `{count}`. */
  sentence: string
  /** What its author expects of it: to go with right answers, with wrong ones, or with neither. */
  expected: 'good' | 'bad' | 'neutral'
  /** Whether it reads the final result or the answer, and so may stand in for the outcome. */
  outcome?: boolean
  test(evidence: Evidence, values: PlaceValues): boolean
}

/**
 * How predicates of a category are written, by what their author expects of them. A test is told the value of the sentence's one
 * place, as a number and as it stands there.
 */
export const predicatesAbout = <Evidence>(category: ThinkingCategory) => {
  const expecting =
    (expected: Predicate<Evidence>['expected']) =>
    (
      sentence: string,
      test: (evidence: Evidence, value: number, word: string) => boolean,
    ): Predicate<Evidence> => ({
      ...{ category, expected, sentence },
      test: (evidence, [word]) => test(evidence, Number(word), word),
    })
  return { good: expecting('good'), bad: expecting('bad'), neutral: expecting('neutral') }
}

/** Whether all are so, and there are any. */
export const allAre = <T>(items: readonly T[], test: (item: T, i: number) => boolean): boolean =>
  items.length > 0 && items.every(test)

/** A sentence of the grammar: which predicate, with which values. */
export interface GrammarSentence<Evidence> {
  predicate: Predicate<Evidence>
  values: PlaceValues
}

export interface GrammarParts<Evidence, Slot extends string> {
  /** All predicates but those that stand in for the outcome. */
  predicates: readonly Predicate<Evidence>[]
  /** Those that read the end of the thinking, or the answer. */
  outcomes: readonly Predicate<Evidence>[]
  /** What may stand in a place, as a regular expression. */
  slots: Readonly<Record<Slot, string>>
}

const PLACE = /\{([a-z]+)\}/g

/** Sentences of a grammar are a few hundred; what else a policy writes must not fill the memory. */
const MOST_READINGS = 20_000
const LONGEST_SENTENCE = 200

export class CriterionGrammar<Evidence, Slot extends string> {
  readonly predicates: readonly Predicate<Evidence>[]
  readonly outcomes: readonly Predicate<Evidence>[]
  readonly #patterns: readonly { predicate: Predicate<Evidence>; pattern: RegExp }[]

  constructor({ predicates, outcomes, slots }: GrammarParts<Evidence, Slot>) {
    this.predicates = predicates
    this.outcomes = outcomes
    this.#patterns = [...predicates, ...outcomes].map(predicate => ({
      predicate,
      pattern: new RegExp(`^${predicate.sentence.replace(PLACE, (_, slot: Slot) => `(${slots[slot]})`)}$`),
    }))
  }

  /** The places of a sentence, in order. */
  slotsOf({ sentence }: Predicate<Evidence>): Slot[] {
    return [...sentence.matchAll(PLACE)].map(([, slot]) => slot as Slot)
  }

  /** The sentence with its places filled. */
  sentenceWith({ sentence }: Predicate<Evidence>, values: PlaceValues): string {
    const left = [...values]
    return sentence.replace(PLACE, () => left.shift() ?? '')
  }

  /** Those that a rubricator may write. */
  allowed(outcomes: boolean): readonly Predicate<Evidence>[] {
    return outcomes ? [...this.predicates, ...this.outcomes] : this.predicates
  }

  /** Reads a criterion; null where it is no sentence of the grammar. Case, blanks around it and a full stop do not matter. */
  readonly read = remembered((text): GrammarSentence<Evidence> | null => {
    return text.length > LONGEST_SENTENCE ? null : this.#search(plainSentence(text))
  }, MOST_READINGS)

  #search(text: string): GrammarSentence<Evidence> | null {
    for (const { predicate, pattern } of this.#patterns) {
      const found = pattern.exec(text)
      if (found) return { predicate, values: found.slice(1) }
    }
    return null
  }
}

/** A sentence as the grammar spells it. */
export const plainSentence = (text: string): string => text.trim().toLowerCase().replace(/\.$/, '')

/** Whether a response meets a criterion. */
export const isMet = <Evidence>(
  { predicate, values }: GrammarSentence<Evidence>,
  evidence: Evidence,
): boolean => predicate.test(evidence, values)

/** What is decided on, of a response to a problem. */
type EvidenceOf<Problem, Evidence> = (problem: Problem, response: ThoughtResponse) => Evidence

/**
 * Executes the sentences of a grammar; what is no sentence of it has no verdict.
 * @param outcomes whether criteria that read the last result are decided as well
 */
export const grammarVerifier = <Problem, Evidence>(
  grammar: CriterionGrammar<Evidence, string>,
  evidenceOf: EvidenceOf<Problem, Evidence>,
  outcomes = true,
): ThinkingVerifier<Problem> => {
  /** Every rubric of a question asks about the same responses, in calls of their own. */
  const known = new WeakMap<ThoughtResponse, { problem: Problem; evidence: Evidence }>()
  const evidenceFor = (problem: Problem, response: ThoughtResponse): Evidence => {
    const seen = known.get(response)
    if (seen?.problem === problem) return seen.evidence
    const evidence = evidenceOf(problem, response)
    known.set(response, { problem, evidence })
    return evidence
  }
  const verdictOn = ({ id, text }: Criterion, evidence: Evidence): Verdict => {
    const reading = grammar.read(text)
    const unknown = (explanation: string): Verdict => ({
      ...{ criterionId: id, met: null, source: 'rule', explanation },
    })
    if (reading === null) return unknown('no sentence of the grammar')
    if (!outcomes && reading.predicate.outcome === true) return unknown('it reads the outcome')
    return { criterionId: id, met: isMet(reading, evidence), source: 'rule' }
  }
  return {
    verify: async items =>
      items.map(({ problem, response, rubric }) => {
        const evidence = evidenceFor(problem, response)
        return rubric.criteria.map(criterion => verdictOn(criterion, evidence))
      }),
  }
}
