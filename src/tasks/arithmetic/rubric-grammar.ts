/** @file The grammar of arithmetic's rubrics as an automaton. */

import type { TokenAutomaton } from '../../model/automaton.ts'
import { buildRubricAutomaton, type RubricGrammarOptions } from '../thinking-grammar/rubric-automaton.ts'
import { openPiece, range } from '../thinking-grammar/rubric-pieces.ts'
import { ARITHMETIC_GRAMMAR } from './predicates.ts'
import { OPERATIONS } from './problem.ts'
import { ARITHMETIC_PIECES, ARITHMETIC_TOKENS, DOMAIN, operationPiece, pieceToken } from './vocabulary.ts'

export type { RubricGrammarOptions }

const digits = (from: number) => range(from, 9).map(digit => pieceToken(` ${digit}`))

/** Rubrics about arithmetic as JSON with sentences of the grammar. */
export const rubricAutomaton = (options?: RubricGrammarOptions): TokenAutomaton =>
  buildRubricAutomaton(
    {
      grammar: ARITHMETIC_GRAMMAR,
      pieces: ARITHMETIC_PIECES,
      open: openPiece(DOMAIN),
      slotTokens: {
        count: digits(0),
        digit: digits(0),
        place: digits(1),
        operation: OPERATIONS.map(operation => pieceToken(operationPiece(operation))),
      },
      eos: ARITHMETIC_TOKENS.eos,
    },
    options,
  )
