/** @file The closed world of the arithmetic task: pieces of text, one token each, for problems, thinking and rubrics. */

import { pieceTokenizer, SPECIAL, SPECIAL_TOKENS } from '../small-vocabulary.ts'
import { PieceText } from '../thinking-grammar/piece-text.ts'
import {
  CRITERION_PIECES,
  HINT_PIECES,
  openPiece,
  RUBRIC_PIECES,
  range,
  sentencePieces,
} from '../thinking-grammar/rubric-pieces.ts'
import { ARITHMETIC_FILLERS } from './lines.ts'
import { OUTCOME_PREDICATES, PREDICATES } from './predicates.ts'
import { OPERATIONS, type Operation } from './problem.ts'

/** What a rubricator calls the questions. */
export const DOMAIN = 'mathematics: arithmetic'

/** An operation is one piece: a small model finds its place in the question by it. */
export const operationPiece = ({ operator, operand }: Operation): string => ` ${operator} ${operand}`

/** Pieces that thinking and answers are made of. */
export const PIECES = {
  think: '\n<think>',
  line: '\n',
  plan: '\nplan',
  given: '\ngiven',
  check: '\ncheck',
  so: '\nso',
  endThink: '\n</think>',
  answer: '\nanswer',
  equals: ' =',
  steps: ' steps',
  ...HINT_PIECES,
  rubricOpen: openPiece(DOMAIN),
  ...RUBRIC_PIECES,
} as const

/** The tokens by id: a token is exactly the text that it decodes to. The order is part of every checkpoint: only append. */
export const ARITHMETIC_VOCABULARY: readonly string[] = [
  ...new Set([
    ...SPECIAL,
    ...range(0, 9).map(digit => ` ${digit}`),
    ...OPERATIONS.map(operationPiece),
    ...Object.values(PIECES),
    ...ARITHMETIC_FILLERS.map(filler => `\n${filler}`),
    ...CRITERION_PIECES,
    ...sentencePieces([...PREDICATES, ...OUTCOME_PREDICATES]),
  ]),
]

/** Both directions between text and those tokens. */
export const ARITHMETIC_PIECES = new PieceText(ARITHMETIC_VOCABULARY, SPECIAL)

export const ARITHMETIC_TOKENS = SPECIAL_TOKENS

/** Splits a text as `ARITHMETIC_PIECES` does. */
export const arithmeticTokenizer = pieceTokenizer(ARITHMETIC_VOCABULARY, ARITHMETIC_PIECES.pattern())
