/** @file The grammar of rubrics as an automaton, so that a rubricator can be held to it while it writes. */

import { AutomatonBuilder, type TokenAutomaton } from '../../model/automaton.ts'
import { CATEGORIES, OUTCOME_PREDICATES, PREDICATES, type Predicate, type Slot } from './predicates/index.ts'
import { OPERATIONS } from './problem.ts'
import {
  ARITHMETIC_TOKENS,
  encodeText,
  itemPiece,
  operationPiece,
  PIECES,
  POINTS,
  pieceToken,
  pointsPiece,
} from './vocabulary.ts'

export interface RubricGrammarOptions {
  /** Fewest and most criteria. Default 5 to 15 (RLCER Fig. 9). */
  criteria?: { min: number; max: number }
  /** Whether it may ask for outcomes. Default false. */
  outcomes?: boolean
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

const digits = (from: number) => range(from, 9).map(digit => pieceToken(` ${digit}`))

/** Tokens of a place, one alternative list after the other. */
const SLOT_TOKENS: Readonly<Record<Slot, readonly (readonly number[])[]>> = {
  count: [digits(0)],
  digit: [digits(0)],
  place: [digits(1)],
  operation: [OPERATIONS.map(operation => pieceToken(operationPiece(operation)))],
}

/** A sentence as lists of tokens of which one each is written. */
const alternatives = ({ sentence }: Predicate): (readonly number[])[] =>
  sentence.split(/ ?(\{[a-z]+\})/).flatMap(part => {
    if (part === '') return []
    if (part.startsWith('{')) return SLOT_TOKENS[part.slice(1, -1) as Slot]
    return encodeText(part).map(token => [token])
  })

/**
 * Rubrics as JSON with sentences of the grammar, so many criteria, and three sums. What is not regular is left to the writer:
 * that the sums are right, and that no sentence comes twice.
 */
export const rubricAutomaton = ({
  criteria: { min, max } = { min: 5, max: 15 },
  outcomes = false,
}: RubricGrammarOptions = {}): TokenAutomaton => {
  const builder = new AutomatonBuilder()
  const predicates = [...PREDICATES, ...(outcomes ? OUTCOME_PREDICATES : [])]
  const open = builder.after(0, pieceToken(PIECES.rubricOpen))
  /** After so many criteria. */
  const ends = range(0, max).map(count => (count === 0 ? open : builder.state()))
  const sums = sumsInto(builder)
  for (let count = 0; count < max; count++) {
    const begin = count === 0 ? open : builder.after(ends[count], pieceToken(PIECES.comma))
    for (const category of CATEGORIES) {
      const root = builder.after(begin, pieceToken(itemPiece(category)))
      for (const predicate of predicates.filter(each => each.category === category))
        for (const last of sentenceInto(builder, root, alternatives(predicate)))
          for (const points of POINTS) builder.edge(last, pieceToken(pointsPiece(points)), ends[count + 1])
    }
  }
  for (const count of range(min, max)) builder.edge(ends[count], pieceToken(PIECES.maximum), sums)
  return builder.build()
}

/** The states that a sentence ends in: one for each way to fill its last place. */
const sentenceInto = (
  builder: AutomatonBuilder,
  root: number,
  parts: readonly (readonly number[])[],
): Iterable<number> => {
  let states = new Set([root])
  for (const tokens of parts) {
    const next = new Set<number>()
    for (const state of states) for (const token of tokens) next.add(builder.after(state, token))
    states = next
  }
  return states
}

/** The state after `maximum_score`, with all that follows it. */
const sumsInto = (builder: AutomatonBuilder): number => {
  const number = (from: number, values: readonly number[]) => {
    const to = builder.state()
    for (const value of values) builder.edge(from, pieceToken(String(value)), to)
    return to
  }
  const start = builder.state()
  const minimum = builder.after(number(start, range(0, 75)), pieceToken(PIECES.minimum))
  const current = builder.after(number(minimum, range(-75, 0)), pieceToken(PIECES.current))
  const close = builder.after(number(current, range(-75, 75)), pieceToken(PIECES.rubricClose))
  builder.after(close, ARITHMETIC_TOKENS.eos)
  return start
}
