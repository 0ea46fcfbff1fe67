/** @file Things by category, for requests that ask for some of them. */

import type { Rng } from '../../util/rng.ts'
import { wordsIn } from '../../util/words.ts'
import lexicon from './lexicon.json' with { type: 'json' }

export interface Category {
  /** What one of them is called, and several. */
  one: string
  many: string
  members: readonly string[]
}

const list = (words: string): readonly string[] => wordsIn(words)

export const CATEGORIES: readonly Category[] = lexicon.categories.map(({ members, ...names }) => ({
  ...names,
  members: list(members),
}))

/** First names in texts and stories. */
export const NAMES = list(lexicon.names)
/** Things that somebody in a story has, with the colour that stands before them. */
export const BELONGINGS = list(lexicon.belongings)
export const PETS = list(lexicon.pets)
export const PLACES = list(lexicon.places)
export const COLOURS = list(lexicon.colours)
export const FOODS = list(lexicon.foods)
export const JOBS = list(lexicon.jobs)
export const DAYS = list(lexicon.days)
/** The number in words, from none to twelve. */
export const NUMBER_WORDS = list(lexicon.numbers)
const SYLLABLES = list(lexicon.syllables)

/** A word that means nothing. */
export const madeUp = (rng: Rng): string =>
  Array.from({ length: 2 + rng.int(2) }, () => rng.pick(SYLLABLES)).join('')

/** "a, b and c". */
export const joined = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`

/** "a" or "an" before a word, by its first letter. */
export const withArticle = (word: string): string => `${/^[aeiou]/i.test(word) ? 'an' : 'a'} ${word}`
