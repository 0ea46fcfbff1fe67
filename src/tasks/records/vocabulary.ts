/** @file The closed world of the records task: pieces of text, one token each, for questions, research, answers and lessons. */

import { wordsIn } from '../../util/words.ts'
import { pieceTokenizer, SPECIAL, SPECIAL_TOKENS } from '../small-vocabulary.ts'
import { PieceText } from '../thinking-grammar/piece-text.ts'
import { ARCHIVE_COLOURS, ARCHIVE_PLACES, ENDINGS, PEOPLE, RECORDS, RELATIONS } from './world.ts'

/** Marks of a trajectory; a tag is one piece with the line break before it. */
export const TAGS = {
  plan: '\n<structured_plan>',
  planEnd: '</structured_plan>',
  needs: '<rubric>',
  needsEnd: '</rubric>',
  call: '\n<call_tool>',
  callEnd: '</call_tool>',
  output: '\n<tool_output>',
  outputEnd: '</tool_output>',
  state: '\n<state_evaluation>',
  stateEnd: '</state_evaluation>',
  think: '\n<think>',
  thinkEnd: '</think>',
  review: '\n<review>',
  reviewEnd: '</review>',
  answer: '\n<answer>',
  answerEnd: '</answer>',
  cite: '<cite>',
  citeEnd: '</cite>',
  reference: '\n<reference>',
  referenceEnd: '</reference>',
  question: '\n<question>',
  questionEnd: '</question>',
  reflect: '\n<reflect>',
  rubrics: '\n<reflection_rubrics>',
  rubricsEnd: '</reflection_rubrics>',
  takeaways: '\n<reflection_takeaways>',
  takeawaysEnd: '</reflection_takeaways>',
} as const

/** Words beside names. */
const WORDS = wordsIn('got none old missing unknown or use not answer over same other')

/** What says nothing; thinking without a scaffold is as long by them. */
export const RECORDS_FILLERS = ['hmm', 'so', 'well', 'next', 'now', 'then'] as const

/** Advice about how to work, which holds for any question. */
export const ADVICE = {
  complete: 'plan every relation',
  retry: 'try another field after none',
  fresh: 'leave what is old',
  follow: 'go on with the person found',
  tick: 'tick what was found',
  cite: 'cite every record',
  honest: 'say unknown if the chain broke',
  long: 'make many calls',
  bold: 'always name somebody',
} as const
export type Advice = keyof typeof ADVICE

export const recordName = (record: number): string => `r${record}`

const spaced = (words: readonly string[]) => words.map(word => ` ${word}`)

/** The tokens by id: a token is exactly the text that it decodes to. The order is part of every checkpoint: only append. */
export const RECORDS_VOCABULARY: readonly string[] = [
  ...SPECIAL,
  ...Object.values(TAGS),
  ...spaced(RELATIONS),
  ...ENDINGS,
  ...spaced(ARCHIVE_COLOURS),
  ...spaced(ARCHIVE_PLACES),
  ...spaced(PEOPLE),
  ...Array.from({ length: RECORDS }, (_, i) => ` ${recordName(i + 1)}`),
  ...spaced(WORDS),
  ...spaced(RECORDS_FILLERS),
  ...Object.values(ADVICE).map(advice => ` ${advice};`),
]

const RECORDS_PIECES = new PieceText(RECORDS_VOCABULARY, SPECIAL)

/** Id of a piece. @throws RangeError for what is none */
export const recordsToken = (piece: string): number => RECORDS_PIECES.token(piece)

export const RECORDS_TOKENS = SPECIAL_TOKENS

/** A text as tokens, the longest piece first; a character that no piece begins with is unknown. */
export const encodeRecords = (text: string): number[] => RECORDS_PIECES.encode(text)

/** Text of tokens; special ones are silent. */
export const decodeRecords = (tokens: ArrayLike<number>): string => RECORDS_PIECES.decode(tokens)

/** Splits a text as `encodeRecords` does. */
export const recordsTokenizer = pieceTokenizer(RECORDS_VOCABULARY, RECORDS_PIECES.pattern())
