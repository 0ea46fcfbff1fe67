/** @file Words of thinking about a trip, after those of the lists, so that no word of a list changes its token. */

import { pieceTokenizer, WORDS_WITH_BLANKS } from '../../small-vocabulary.ts'
import { CHECKLIST_VOCABULARY, wordToken } from '../vocabulary.ts'

export const OPEN_THINKING = '<think>'
export const CLOSE_THINKING = '</think>'

/** What thinking says besides the words of trips, things and scaffolds. */
const THOUGHT_WORDS = [
  OPEN_THINKING,
  CLOSE_THINKING,
  'needs',
  'wants',
  'leave',
  'means',
  'then',
  'perhaps',
  'hmm',
] as const

/** The tokens of a model that thinks, by id. The order is part of every checkpoint: only append. */
export const THOUGHT_VOCABULARY: readonly string[] = [
  ...CHECKLIST_VOCABULARY,
  ...THOUGHT_WORDS.map(word => ` ${word}`),
]

const IDS: ReadonlyMap<string, number> = new Map(
  THOUGHT_WORDS.map((word, i) => [word, CHECKLIST_VOCABULARY.length + i]),
)

/** Id of a word of trips, lists or thinking. @throws RangeError for another word */
export const thoughtToken = (word: string): number => IDS.get(word) ?? wordToken(word)

/** Words, the tags of thinking, and the colon that asks. */
export const thoughtTokenizer = pieceTokenizer(THOUGHT_VOCABULARY, ' [a-z]+| </?think>|:', WORDS_WITH_BLANKS)
