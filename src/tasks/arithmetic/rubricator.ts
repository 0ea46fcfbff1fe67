/** @file Rubrics of arithmetic: what the scripted rubricator writes, and the automaton that holds a policy to their grammar. */

import type { TokenAutomaton } from '../../model/automaton.ts'
import type { Rng } from '../../util/rng.ts'
import { buildRubricAutomaton, type RubricGrammarOptions } from '../thinking-grammar/rubric-automaton.ts'
import { openPiece, range } from '../thinking-grammar/rubric-pieces.ts'
import { ScriptedRubricator } from '../thinking-grammar/rubricator.ts'
import { ARITHMETIC_GRAMMAR, type Evidence, type Slot } from './predicates.ts'
import { type ArithmeticProblem, OPERATIONS } from './problem.ts'
import { ARITHMETIC_PIECES, ARITHMETIC_TOKENS, DOMAIN, operationPiece } from './vocabulary.ts'

const slotValue = (slot: Slot, { operations }: ArithmeticProblem, rng: Rng): string => {
  if (slot === 'digit') return String(rng.int(10))
  if (slot === 'place') return String(1 + rng.int(operations.length))
  if (slot === 'count') return String(Math.max(1, operations.length - 2 + rng.int(5)))
  const { operator, operand } = rng.pick(operations)
  return `${operator} ${operand}`
}

const digits = (from: number) => range(from, 9).map(digit => ARITHMETIC_PIECES.token(` ${digit}`))

const LANGUAGE = {
  ...{ grammar: ARITHMETIC_GRAMMAR, pieces: ARITHMETIC_PIECES, open: openPiece(DOMAIN) },
  ...{ slotValue, eos: ARITHMETIC_TOKENS.eos },
  slotTokens: {
    ...{ count: digits(0), digit: digits(0), place: digits(1) },
    operation: OPERATIONS.map(operation => ARITHMETIC_PIECES.token(operationPiece(operation))),
  },
}

/** The scripted rubricator. */
export const arithmeticRubricator = new ScriptedRubricator<ArithmeticProblem, Evidence, Slot>(LANGUAGE)

/** Rubrics about arithmetic as JSON with sentences of the grammar. */
export const rubricAutomaton = (options?: RubricGrammarOptions): TokenAutomaton =>
  buildRubricAutomaton(LANGUAGE, options)
