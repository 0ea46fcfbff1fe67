/** @file Problems, hints and thinking as tokens of the small model, and its responses as text. */

import type { Criterion } from '../../rubric/criterion.ts'
import { partThinking, type ThoughtResponse } from '../thinking.ts'
import { readCriterion } from './predicates.ts'
import { type ArithmeticProblem, chainText } from './problem.ts'
import { ARITHMETIC_TOKENS, decodeText, encodeText, PIECES, pieceToken } from './vocabulary.ts'

/** ` 7 + 5 * 3`: every piece brings the blank before it. */
const questionTokens = (problem: ArithmeticProblem): number[] => encodeText(` ${chainText(problem)}`)

/** A line a hint: what to do for points, what to avoid for penalties. Sentences outside the grammar cannot be said. */
const hintTokens = (hints: readonly Criterion[]): number[] =>
  hints.flatMap(({ text, points }) =>
    readCriterion(text) === null
      ? []
      : [
          pieceToken(points > 0 ? PIECES.do : PIECES.avoid),
          ...encodeText(text.trim().toLowerCase().replace(/\.$/, '')),
        ],
  )

/** `<bos> 7 + 5 * 3 [hints] <think>`. */
export const reasonerPrompt = (problem: ArithmeticProblem, hints: readonly Criterion[] = []): number[] => [
  ARITHMETIC_TOKENS.bos,
  ...questionTokens(problem),
  ...hintTokens(hints),
  pieceToken(PIECES.think),
]

/** The question, one response's thinking, and the word that asks for a rubric. */
export const rubricatorPrompt = (
  problem: ArithmeticProblem,
  { thinking, closed }: ThoughtResponse,
): number[] => [
  ...reasonerPrompt(problem),
  ...thinkingTokens(thinking),
  ...(closed ? [pieceToken(PIECES.endThink)] : []),
  pieceToken(PIECES.rubric),
]

/** Thinking that was read back, as it was written: a line break before every line. */
const thinkingTokens = (thinking: string): number[] =>
  thinking === ''
    ? []
    : thinking
        .split('\n')
        .flatMap(line => encodeText(/^\d/.test(line.trim()) ? `\n ${line.trim()}` : `\n${line.trim()}`))

export const readResponse = (tokens: ArrayLike<number>): ThoughtResponse => partThinking(decodeText(tokens))

const ANSWER = /^answer (\d)$/

/** The digit that a response answers; null where it does not. */
export const answeredDigit = ({ answer }: ThoughtResponse): number | null => {
  const found = ANSWER.exec(answer)
  return found ? Number(found[1]) : null
}
