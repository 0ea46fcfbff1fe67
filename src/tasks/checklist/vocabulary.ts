/** @file The closed world of the packing lists: words, and the token list of the small model that writes them. */

import { wordsIn } from '../../util/words.ts'
import { pieceTokenizer, SPECIAL, SPECIAL_TOKENS, WORDS_WITH_BLANKS } from '../small-vocabulary.ts'

/** Where the trip goes: decides what is usual, and which unusual things are needed. */
export const TOPICS: readonly string[] = wordsIn(`
  beach mountain desert forest lake island river cave city farm castle glacier marsh canyon meadow harbour
`)

/** What kind of trip: decides length, order, and what must stay at home. */
export const OCCASIONS = wordsIn('weekend night winter summer reunion race picnic survey')

/** Who comes along: each needs one unusual thing. */
export const COMPANIONS: readonly string[] = wordsIn(`
  anna ben cleo dan eva finn gina hugo iris jack kara leo mona nils olga paul rosa sam tina uwe
`)

/** What everybody packs now and then; habit lists them in this order. */
export const COMMON_ITEMS: readonly string[] = wordsIn(`
  tent blanket pillow rope torch matches knife stove kettle mug plate spoon bread cheese apples tea water
  soap towel brush hat scarf gloves coat boots socks sandals book cards ball camera radio map umbrella
  mirror candle
`)

/** What nobody packs by habit. */
export const SPECIAL_ITEMS: readonly string[] = wordsIn(`
  compass whistle goggles crampons harpoon lantern telescope sextant bellows anvil abacus hourglass magnet
  prism pulley winch trowel sieve funnel tripod barometer metronome thimble loom quill parchment amulet
  snorkel
`)

export const ITEMS: readonly string[] = [...COMMON_ITEMS, ...SPECIAL_ITEMS]

/** Words of the scaffold; most are followed by the thing or number that they are about. */
const SCAFFOLD_WORDS = wordsIn('include first without few some many spare lean once')
export type ScaffoldWord = (typeof SCAFFOLD_WORDS)[number]

const spaced = (words: readonly string[]) => words.map(word => ` ${word}`)

/**
 * The tokens by id: a token is exactly the text that it decodes to. The order is part of every checkpoint: only append.
 */
export const CHECKLIST_VOCABULARY: readonly string[] = [
  ...SPECIAL,
  ':',
  ...spaced(SCAFFOLD_WORDS),
  ...spaced(TOPICS),
  ...spaced(OCCASIONS),
  ...spaced(COMPANIONS),
  ...spaced(ITEMS),
]

const IDS: ReadonlyMap<string, number> = new Map(CHECKLIST_VOCABULARY.map((token, id) => [token, id]))

/** Id of a word of this world. */
export const wordToken = (word: string): number => {
  const id = IDS.get(` ${word}`)
  if (id === undefined) throw new RangeError(`no word of the packing lists: ${word}`)
  return id
}

export const CHECKLIST_TOKENS = { ...SPECIAL_TOKENS, ask: 4 } as const

/** Words, and the colon that asks. */
export const checklistTokenizer = pieceTokenizer(CHECKLIST_VOCABULARY, ' [a-z]+|:', WORDS_WITH_BLANKS)
