/** @file A grammar of criteria about thinking: sentences that are read, and executed exactly. */

import type { PlaceValues, Predicate } from './predicate.ts'

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
  readonly #readings = new Map<string, GrammarSentence<Evidence> | null>()

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
  read(text: string): GrammarSentence<Evidence> | null {
    const known = this.#readings.get(text)
    if (known !== undefined) return known
    const found = text.length > LONGEST_SENTENCE ? null : this.#search(plainSentence(text))
    if (this.#readings.size >= MOST_READINGS) this.#readings.clear()
    this.#readings.set(text, found)
    return found
  }

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
