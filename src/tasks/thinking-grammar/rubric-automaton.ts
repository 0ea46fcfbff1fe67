/** @file The grammar of rubrics as an automaton, so that a rubricator can be held to it while it writes. */

import { AutomatonBuilder, type TokenAutomaton } from '../../model/automaton.ts'
import { type CriterionGrammar, THINKING_CATEGORIES } from './grammar.ts'
import type { PieceText } from './piece-text.ts'
import {
  itemPiece,
  MOST_POINTS,
  POINTS,
  pointsPiece,
  RUBRIC_PIECES,
  range,
  sentenceParts,
} from './rubric-pieces.ts'

export interface RubricGrammarOptions {
  /** Fewest and most criteria. Default 5 to 15 (RLCER Fig. 9). */
  criteria?: { min: number; max: number }
  /** Whether it may ask for outcomes. Default false. */
  outcomes?: boolean
}

export interface RubricLanguage<Slot extends string> {
  grammar: CriterionGrammar<never, Slot>
  pieces: PieceText
  /** How its JSON begins. */
  open: string
  /** Tokens that may stand in a place. */
  slotTokens: Readonly<Record<Slot, readonly number[]>>
  eos: number
}

/**
 * Rubrics as JSON with sentences of the grammar, so many criteria with the sums so far, and three sums. What is not regular is left to the writer:
 * that the sums are right, and that no sentence comes twice.
 */
export const buildRubricAutomaton = <Slot extends string>(
  language: RubricLanguage<Slot>,
  { criteria: { min, max } = { min: 5, max: 15 }, outcomes = false }: RubricGrammarOptions = {},
): TokenAutomaton => {
  const { grammar, pieces, open: opening } = language
  const builder = new AutomatonBuilder()
  const predicates = grammar.allowed(outcomes)
  const open = builder.after(0, pieces.token(opening))
  /** After so many criteria. */
  const ends = range(0, max).map(count => (count === 0 ? open : builder.state()))
  const sums = sumsInto(builder, language)
  for (let count = 0; count < max; count++) {
    const begin = count === 0 ? open : builder.after(ends[count], pieces.token(RUBRIC_PIECES.comma))
    const [merits, flaws] = sumsSoFarInto(builder, language, ends[count + 1])
    for (const category of THINKING_CATEGORIES) {
      const root = builder.after(begin, pieces.token(itemPiece(category)))
      for (const { sentence } of predicates.filter(each => each.category === category))
        for (const last of sentenceInto(builder, root, alternatives(language, sentence)))
          for (const points of POINTS)
            builder.edge(last, pieces.token(pointsPiece(points)), points > 0 ? merits : flaws)
    }
  }
  for (const count of range(min, max)) builder.edge(ends[count], pieces.token(RUBRIC_PIECES.maximum), sums)
  return builder.build()
}

/** A sentence as lists of tokens of which one each is written. */
const alternatives = <Slot extends string>(
  { pieces, slotTokens }: RubricLanguage<Slot>,
  sentence: string,
): (readonly number[])[] =>
  sentenceParts(sentence).flatMap(part =>
    part.startsWith('{')
      ? [slotTokens[part.slice(1, -1) as Slot]]
      : pieces.encode(part).map(token => [token]),
  )

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

/** The states after a criterion's points, above and below zero: the sum so far, and the end of the criterion. */
const sumsSoFarInto = (
  builder: AutomatonBuilder,
  { pieces }: RubricLanguage<string>,
  end: number,
): [merits: number, flaws: number] => {
  const close = builder.state()
  builder.edge(close, pieces.token(RUBRIC_PIECES.close), end)
  const sums = (values: readonly number[]) => {
    const from = builder.state()
    for (const value of values) builder.edge(from, pieces.token(String(value)), close)
    return from
  }
  return [sums(range(1, MOST_POINTS)), sums(range(-MOST_POINTS, -1))]
}

/** The state after `maximum_score`, with all that follows it. */
const sumsInto = (builder: AutomatonBuilder, { pieces, eos }: RubricLanguage<string>): number => {
  const number = (from: number, values: readonly number[]) => {
    const to = builder.state()
    for (const value of values) builder.edge(from, pieces.token(String(value)), to)
    return to
  }
  const { minimum, current, close } = RUBRIC_PIECES
  const start = builder.state()
  const least = builder.after(number(start, range(0, MOST_POINTS)), pieces.token(minimum))
  const now = builder.after(number(least, range(-MOST_POINTS, 0)), pieces.token(current))
  const end = builder.after(number(now, range(-MOST_POINTS, MOST_POINTS)), pieces.token(close))
  builder.after(end, eos)
  return start
}
