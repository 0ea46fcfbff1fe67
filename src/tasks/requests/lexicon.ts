/** @file What requests are about: things by category, names, how things are done in steps, lines for short notes. */

import type { Rng } from '../../util/rng.ts'
import { wordsIn } from '../../util/words.ts'
import guides from './guides.json' with { type: 'json' }
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

/** What is done, after "how do I", and its steps. */
export const GUIDES = Object.entries(guides.guides).map(([doing, steps]) => ({ doing, steps }))
/** What somebody may be sorry for, after "for". */
export const FAULTS: readonly string[] = guides.faults
/** What somebody may be invited to, after "to". */
export const INVITATION_OCCASIONS: readonly string[] = guides.invitations
/** Orders that can be put politely: what is to be done. */
export const ORDERS: readonly string[] = guides.orders
/** Long sentences with what they come to. */
export const WORDY = Object.entries(guides.wordy)

/** A word that means nothing. */
export const madeUp = (rng: Rng): string =>
  Array.from({ length: 2 + rng.int(2) }, () => rng.pick(SYLLABLES)).join('')

/** "a, b and c". */
export const joined = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`

/** "a" or "an" before a word, by its first letter. */
export const withArticle = (word: string): string => `${/^[aeiou]/i.test(word) ? 'an' : 'a'} ${word}`
