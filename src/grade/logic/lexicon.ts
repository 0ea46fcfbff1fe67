/** @file Word forms of the controlled English: plurals, verb forms, function words. */

import { wordSet, wordsIn } from '../../util/words.ts'

const IRREGULAR: Readonly<Record<string, string>> = {
  men: 'man',
  women: 'woman',
  children: 'child',
  mice: 'mouse',
  geese: 'goose',
  wolves: 'wolf',
  sheep: 'sheep',
  fish: 'fish',
  persons: 'person',
}

/** A plural-looking word: ends in s, but not as nervous, wumpus and glass do. */
export const isPlural = (word: string): boolean =>
  word in IRREGULAR || (/s$/.test(word) && !/(?:ous|us|ss|is)$/.test(word))

/** The singular of a plural noun (wumpuses -> wumpus, butterflies -> butterfly); other words as they are. */
export const singular = (word: string): string => {
  if (word in IRREGULAR) return IRREGULAR[word]
  if (!isPlural(word)) return word
  if (/[^aeiou]ies$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(?:ss|x|ch|sh|zz)es$/.test(word) || (/uses$/.test(word) && !/ouses$/.test(word)))
    return word.slice(0, -2)
  return word.slice(0, -1)
}

/** The base form of a verb in the third person (likes -> like, chases -> chase); other forms as they are. */
export const baseVerb = (word: string): string => {
  if (word === 'has') return 'have'
  if (!/[^s]s$/.test(word)) return word
  if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`
  if (/(?:ss|x|ch|sh|zz|o)es$/.test(word)) return word.slice(0, -2)
  return word.slice(0, -1)
}

/** Heads that add nothing to their adjectives: "red things" are whatever is red. */
export const EMPTY_HEADS: ReadonlySet<string> = wordSet('things people ones thing person one')

export const INDEFINITES: ReadonlySet<string> = wordSet('something someone somebody anything anyone')

export const UNIVERSALS: ReadonlySet<string> = wordSet('everything everyone everybody')
export const NEGATIVES: ReadonlySet<string> = wordSet('nothing nobody')
export const PRONOUNS: ReadonlySet<string> = wordSet('it they he she them him her')
export const COPULAS: ReadonlySet<string> = wordSet('is are')
export const AUXILIARIES: ReadonlySet<string> = wordSet('does do')
export const ARTICLES: ReadonlySet<string> = wordSet('a an')
export const EACH_WORDS: ReadonlySet<string> = wordSet('every each any')

/** Words that cannot be a predicate or a name: one in such a place means that the sentence is not understood. */
export const FUNCTION_WORDS: ReadonlySet<string> = new Set([
  ...INDEFINITES,
  ...UNIVERSALS,
  ...NEGATIVES,
  ...COPULAS,
  ...AUXILIARIES,
  ...ARTICLES,
  ...EACH_WORDS,
  ...wordsIn(`
    not no all and or if then the either neither nor but that which who there
    this these those some because since so therefore we i you
  `),
])
