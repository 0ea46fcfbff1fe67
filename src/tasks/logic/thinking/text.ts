/** @file Hints, thinking and rubrics of the logic task as tokens of the small model, and its responses as text. */

import { extractLabel } from '../../../grade/logic/answer.ts'
import type { LogicLabel } from '../../../grade/logic/problem.ts'
import type { TokenAutomaton } from '../../../model/automaton.ts'
import type { Criterion } from '../../../rubric/criterion.ts'
import { pieceTokenizer } from '../../small-vocabulary.ts'
import type { ThoughtResponse } from '../../thinking.ts'
import { plainSentence } from '../../thinking-grammar/grammar.ts'
import { buildRubricAutomaton, type RubricGrammarOptions } from '../../thinking-grammar/rubric-automaton.ts'
import { range } from '../../thinking-grammar/rubric-pieces.ts'
import type { LogicTaskExample } from '../example.ts'
import { encodePrompt } from '../format.ts'
import { INDIVIDUALS, LOGIC_TOKENS, LOGIC_VOCABULARY, NOUNS } from '../vocabulary.ts'
import { LOGIC_GRAMMAR, MOST_COUNTED, readLogicCriterion } from './predicates.ts'
import { LOGIC_PIECES, LOGIC_RUBRIC_PIECES, LOGIC_RUBRIC_VOCABULARY } from './vocabulary.ts'

const OPEN = '<reasoning>'
const CLOSE = '</reasoning>'

/** Parts a response where its reasoning ends. */
export const partReasoning = (text: string): ThoughtResponse => {
  const end = text.indexOf(CLOSE)
  const head = (end < 0 ? text : text.slice(0, end)).trimStart()
  const thinking = (head.startsWith(OPEN) ? head.slice(OPEN.length) : head).trim()
  return { text, thinking, answer: end < 0 ? '' : text.slice(end + CLOSE.length).trim(), closed: end >= 0 }
}

export const readLogicResponse = (tokens: ArrayLike<number>): ThoughtResponse =>
  partReasoning(LOGIC_PIECES.decode(tokens))

/** The label that a response answers; null where it does not. */
export const labelOf = ({ answer }: ThoughtResponse): LogicLabel | null => extractLabel(answer).label

/** A line a hint: what to do for points, what to avoid for penalties. Sentences outside the grammar cannot be said. */
const hintTokens = (hints: readonly Criterion[]): number[] =>
  hints.flatMap(({ text, points }) => {
    if (readLogicCriterion(text) === null) return []
    const { do: wanted, avoid } = LOGIC_RUBRIC_PIECES
    return [LOGIC_PIECES.token(points > 0 ? wanted : avoid), ...LOGIC_PIECES.encode(plainSentence(text))]
  })

/** Premises and question as the logic task has them, then the hints. @throws DataError for a word outside the vocabulary */
export const logicThinkingPrompt = (
  problem: LogicTaskExample,
  hints: readonly Criterion[] = [],
): number[] => [...encodePrompt(problem, LOGIC_VOCABULARY.length), ...hintTokens(hints)]

/** The question, one response's thinking, and the word that asks for a rubric. */
export const logicRubricatorPrompt = (
  problem: LogicTaskExample,
  { thinking, closed }: ThoughtResponse,
): number[] => [
  ...encodePrompt(problem, LOGIC_VOCABULARY.length),
  ...LOGIC_PIECES.encode(`${OPEN}${thinking === '' ? '' : `\n${thinking}`}${closed ? `\n${CLOSE}` : ''}`),
  LOGIC_PIECES.token(LOGIC_RUBRIC_PIECES.rubric),
]

const spaced = (words: readonly (string | number)[]): number[] =>
  words.map(word => LOGIC_PIECES.token(` ${word}`.toLowerCase()))

/** Rubrics about logic as JSON with sentences of the grammar. */
export const logicRubricAutomaton = (options?: RubricGrammarOptions): TokenAutomaton => {
  const numbers = spaced(range(1, MOST_COUNTED))
  return buildRubricAutomaton(
    {
      grammar: LOGIC_GRAMMAR,
      pieces: LOGIC_PIECES,
      open: LOGIC_RUBRIC_PIECES.open,
      slotTokens: { count: numbers, place: numbers, name: spaced(INDIVIDUALS), kind: spaced(NOUNS) },
      eos: LOGIC_TOKENS.eos,
    },
    options,
  )
}

/** The tokenizer files of the larger vocabulary. */
export const logicRubricTokenizer = pieceTokenizer(LOGIC_RUBRIC_VOCABULARY, LOGIC_PIECES.pattern())
