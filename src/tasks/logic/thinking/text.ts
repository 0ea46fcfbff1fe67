/** @file Hints, thinking and rubrics of the logic task as tokens of the small model, and its responses as text. */

import { extractLabel } from '../../../grade/logic/answer.ts'
import type { LogicLabel } from '../../../grade/logic/problem.ts'
import type { TokenAutomaton } from '../../../model/automaton.ts'
import type { Criterion } from '../../../rubric/criterion.ts'
import type { Rng } from '../../../util/rng.ts'
import { pieceTokenizer, SPECIAL } from '../../small-vocabulary.ts'
import { partThinking, type ThoughtResponse } from '../../thinking.ts'
import { grammarHintTokens } from '../../thinking-grammar/hints.ts'
import { PieceText } from '../../thinking-grammar/piece-text.ts'
import { buildRubricAutomaton, type RubricGrammarOptions } from '../../thinking-grammar/rubric-automaton.ts'
import {
  CRITERION_PIECES,
  HINT_PIECES,
  openPiece,
  RUBRIC_PIECES,
  range,
  sentencePieces,
} from '../../thinking-grammar/rubric-pieces.ts'
import { ScriptedRubricator } from '../../thinking-grammar/rubricator.ts'
import type { LogicTaskExample } from '../example.ts'
import { encodePrompt } from '../format.ts'
import { INDIVIDUALS, LOGIC_TOKENS, LOGIC_VOCABULARY, NOUNS } from '../vocabulary.ts'
import { closureOf } from './closure.ts'
import { LOGIC_GRAMMAR, type LogicEvidence, type LogicSlot, MOST_COUNTED } from './predicates.ts'

/** What a rubricator calls the questions. */
const LOGIC_DOMAIN = 'logic: deduction'

const LOGIC_RUBRIC_PIECES = {
  ...HINT_PIECES,
  open: openPiece(LOGIC_DOMAIN),
  ...RUBRIC_PIECES,
} as const

/** The tokens by id; those of the logic task keep theirs. The order is part of every checkpoint: only append. */
export const LOGIC_RUBRIC_VOCABULARY: readonly string[] = [
  ...new Set([
    ...LOGIC_VOCABULARY,
    ...Object.values(LOGIC_RUBRIC_PIECES),
    ...CRITERION_PIECES,
    ...range(1, MOST_COUNTED).map(number => ` ${number}`),
    ...sentencePieces(LOGIC_GRAMMAR.allowed(true)),
  ]),
]

/** Both directions between text and those tokens. */
export const LOGIC_PIECES = new PieceText(LOGIC_RUBRIC_VOCABULARY, SPECIAL)

/** Parts a response where its reasoning ends. */
export const partReasoning = (text: string): ThoughtResponse => partThinking(text, 'reasoning')

export const readLogicResponse = (tokens: ArrayLike<number>): ThoughtResponse =>
  partReasoning(LOGIC_PIECES.decode(tokens))

/** The label that a response answers; null where it does not. */
export const labelOf = ({ answer }: ThoughtResponse): LogicLabel | null => extractLabel(answer).label

/** Premises and question as the logic task has them, then the hints. @throws DataError for a word outside the vocabulary */
export const logicThinkingPrompt = (
  problem: LogicTaskExample,
  hints: readonly Criterion[] = [],
): number[] => [
  ...encodePrompt(problem, LOGIC_VOCABULARY.length),
  ...grammarHintTokens(LOGIC_GRAMMAR, LOGIC_PIECES, hints),
]

/** The question, one response's thinking, and the word that asks for a rubric. */
export const logicRubricatorPrompt = (
  problem: LogicTaskExample,
  { thinking, closed }: ThoughtResponse,
): number[] => [
  ...encodePrompt(problem, LOGIC_VOCABULARY.length),
  ...LOGIC_PIECES.encode(
    `<reasoning>${thinking === '' ? '' : `\n${thinking}`}${closed ? '\n</reasoning>' : ''}`,
  ),
  LOGIC_PIECES.token(LOGIC_RUBRIC_PIECES.rubric),
]

const spaced = (words: readonly (string | number)[]): number[] =>
  words.map(word => LOGIC_PIECES.token(` ${word}`.toLowerCase()))

/** The tokenizer files of the larger vocabulary. */
export const logicRubricTokenizer = pieceTokenizer(LOGIC_RUBRIC_VOCABULARY, LOGIC_PIECES.pattern())

/** Steps of a proof with so many hops: the fact, then a rule and its consequence for each. */
const stepsOf = ({ hops = 3 }: LogicTaskExample): number => 1 + 2 * hops

const within = (value: number): string => String(Math.min(MOST_COUNTED, Math.max(1, value)))

const slotValue = (slot: LogicSlot, problem: LogicTaskExample, rng: Rng): string => {
  const view = closureOf(problem)?.view
  if (slot === 'count') return within(stepsOf(problem) - 2 + rng.int(5))
  if (slot === 'place') return within(1 + rng.int(stepsOf(problem)))
  if (slot === 'name') return view?.query.subject ?? 'stella'
  const kinds = new Set(view?.rules.map(({ subject }) => subject))
  return rng.pick(kinds.size > 0 ? [...kinds] : NOUNS)
}

const NUMBERS = spaced(range(1, MOST_COUNTED))

const LANGUAGE = {
  ...{ grammar: LOGIC_GRAMMAR, pieces: LOGIC_PIECES, open: LOGIC_RUBRIC_PIECES.open },
  ...{ slotValue, eos: LOGIC_TOKENS.eos },
  slotTokens: { count: NUMBERS, place: NUMBERS, name: spaced(INDIVIDUALS), kind: spaced(NOUNS) },
}

export const logicRubricator = new ScriptedRubricator<LogicTaskExample, LogicEvidence, LogicSlot>(LANGUAGE)

/** Rubrics about logic as JSON with sentences of the grammar. */
export const logicRubricAutomaton = (options?: RubricGrammarOptions): TokenAutomaton =>
  buildRubricAutomaton(LANGUAGE, options)
