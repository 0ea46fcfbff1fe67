/** @file The closed world of the generated problems (nouns, adjectives, names) and the token list of the small model. */

import { wordsIn } from '../../util/words.ts'
import { SPECIAL, SPECIAL_TOKENS } from '../small-vocabulary.ts'

/** Fictional kinds, as in ProntoQA. The plural adds `es`. */
export const NOUNS = wordsIn('dumpus impus jompus numpus rompus tumpus vumpus wumpus yumpus zumpus')

/** Kinds of problems that ten do not suffice for: longer chains, or more beside them. */
const MORE_NOUNS: readonly string[] = wordsIn(`
  gorpus shumpus lempus sterpus grimpus lorpus brimpus timpus yimpus rempus fompus worpus terpus kerpus
`)

/** All kinds; a problem draws from the first so many. */
export const ALL_NOUNS: readonly string[] = [...NOUNS, ...MORE_NOUNS]

/** Adjectives by family: a problem never gives two adjectives of one family to the kinds of a chain. */
export const ADJECTIVE_FAMILIES = [
  ['aggressive', 'amenable', 'angry', 'kind', 'mean'],
  ['bitter', 'sour', 'spicy', 'sweet'],
  ['blue', 'brown', 'orange', 'red'],
  ['bright', 'dull'],
  ['cold', 'hot', 'temperate'],
  ['earthy', 'floral', 'fruity'],
  ['feisty', 'happy', 'nervous', 'shy'],
  ['large', 'small'],
  ['liquid', 'luminous', 'metallic', 'wooden'],
  ['opaque', 'transparent'],
] as const

const MORE_FAMILIES = [
  ['loud', 'quiet'],
  ['old', 'young'],
  ['heavy', 'light'],
  ['fast', 'slow'],
  ['rough', 'smooth'],
  ['dry', 'wet'],
  ['clean', 'dirty'],
  ['round', 'square'],
  ['blunt', 'sharp'],
  ['poor', 'rich'],
] as const

/** Adjectives of problems that draw from more than ten kinds. */
export const ALL_FAMILIES: readonly (readonly string[])[] = [...ADJECTIVE_FAMILIES, ...MORE_FAMILIES]

const ADJECTIVES: readonly string[] = ADJECTIVE_FAMILIES.flat()

/** Individuals, capitalised as shown. */
export const INDIVIDUALS = ['Alex', 'Fae', 'Max', 'Polly', 'Rex', 'Sally', 'Sam', 'Stella', 'Wren'] as const

/** Step numbers of the short vocabulary; a five-hop proof has 11 steps, an exhausted chain of 10 kinds 19. */
const SHORT_STEPS = 23
/** Longest proof that step numbers reach; one of h hops has 2 h + 1 steps, an exhausted chain four more. */
export const MAX_STEPS = 45

const stepTokens = Array.from({ length: MAX_STEPS }, (_, index) => `\n${index + 1}.`)
const spaced = (words: readonly string[]) => words.map(word => ` ${word.toLowerCase()}`)

/**
 * The tokens by id of problems of at most ten kinds and 23 steps, as the shipped models have them. A token is exactly the text
 * that it decodes to, leading space or line break included, so that decoding is concatenation. The order is part of every
 * checkpoint: never change it, only append.
 */
export const LOGIC_VOCABULARY: readonly string[] = [
  ...SPECIAL,
  '<reasoning>',
  '\n</reasoning>',
  '\n<answer>',
  '</answer>',
  'true',
  'false',
  'unknown',
  '\nquestion:',
  '.',
  'es',
  ...spaced(['is', 'are', 'a', 'an', 'not', 'every', 'each']),
  ...spaced(INDIVIDUALS),
  ...spaced(NOUNS),
  ...spaced(ADJECTIVES),
  ...stepTokens.slice(0, SHORT_STEPS),
]

const WORDS: readonly string[] = [
  ...LOGIC_VOCABULARY,
  ...spaced(MORE_NOUNS),
  ...spaced(MORE_FAMILIES.flat()),
  ...stepTokens.slice(SHORT_STEPS),
]

/** Tokens that are a word each, or an ending: those of the long vocabulary before its phrases. */
export const WORD_COUNT = WORDS.length

/**
 * What joins a subject with what is said of it, as one token. So "every x is not y", "xes are not y" and "every x is a y" all
 * have the joint right behind x, and y right behind that: with words alone small models do not learn within thousands of steps
 * which of two sentences has the `not` (docs/recipes/rubric-as-reward.md).
 */
export const PHRASES = [' is a', ' is an', ' is not', 'es are', 'es are not'] as const

/**
 * The second version: the first one's tokens by the ids they have, after them more kinds, adjectives and step numbers, and
 * then phrases, which a model that has them reads and writes in place of their words.
 */
export const LONG_LOGIC_VOCABULARY: readonly string[] = [...WORDS, ...PHRASES]

/** Whether a model of so many tokens reads and writes phrases in place of their words. */
export const hasPhrases = (vocabulary: number): boolean => vocabulary >= LONG_LOGIC_VOCABULARY.length

const ids: ReadonlyMap<string, number> = new Map(LONG_LOGIC_VOCABULARY.map((token, id) => [token, id]))

/** The id of a token's exact text, or undefined. */
export const tokenId = (token: string): number | undefined => ids.get(token)

const requireId = (token: string) => {
  const id = ids.get(token)
  if (id === undefined) throw new Error(`vocabulary lacks ${JSON.stringify(token)}`)
  return id
}

/** Ids of the tokens with a role of their own. */
export const LOGIC_TOKENS = {
  ...SPECIAL_TOKENS,
  reasoningOpen: requireId('<reasoning>'),
  reasoningClose: requireId('\n</reasoning>'),
  answerOpen: requireId('\n<answer>'),
  answerClose: requireId('</answer>'),
  question: requireId('\nquestion:'),
  period: requireId('.'),
  not: requireId(' not'),
  /** Answer words by label. */
  answers: { True: requireId('true'), False: requireId('false'), Unknown: requireId('unknown') },
  /** Step numbers: `steps[0]` is "1.". */
  steps: stepTokens.map(requireId),
} as const
