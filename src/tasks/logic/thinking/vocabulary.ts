/** @file The words of a small model that also writes rubrics: those of the logic task, and after them the pieces of rubrics. */

import { SPECIAL } from '../../small-vocabulary.ts'
import { PieceText } from '../../thinking-grammar/piece-text.ts'
import { THINKING_CATEGORIES } from '../../thinking-grammar/predicate.ts'
import {
  itemPiece,
  MOST_POINTS,
  openPiece,
  POINTS,
  pointsPiece,
  RUBRIC_PIECES,
  range,
  sentencePieces,
} from '../../thinking-grammar/rubric-pieces.ts'
import { LOGIC_VOCABULARY } from '../vocabulary.ts'
import { LOGIC_GRAMMAR, MOST_COUNTED } from './predicates.ts'

/** What a rubricator calls the questions. */
const LOGIC_DOMAIN = 'logic: deduction'

export const LOGIC_RUBRIC_PIECES = {
  do: '\ndo ',
  avoid: '\navoid ',
  rubric: '\n<rubric>',
  open: openPiece(LOGIC_DOMAIN),
  ...RUBRIC_PIECES,
} as const

/** The tokens by id; those of the logic task keep theirs. The order is part of every checkpoint: only append. */
export const LOGIC_RUBRIC_VOCABULARY: readonly string[] = [
  ...new Set([
    ...LOGIC_VOCABULARY,
    ...Object.values(LOGIC_RUBRIC_PIECES),
    ...THINKING_CATEGORIES.map(itemPiece),
    ...POINTS.map(pointsPiece),
    ...range(-MOST_POINTS, MOST_POINTS).map(String),
    ...range(1, MOST_COUNTED).map(number => ` ${number}`),
    ...sentencePieces(LOGIC_GRAMMAR.allowed(true)),
  ]),
]

/** Both directions between text and those tokens. */
export const LOGIC_PIECES = new PieceText(LOGIC_RUBRIC_VOCABULARY, SPECIAL)
