/** @file Problems, hints and thinking as tokens of the small model, and its responses as text. */

import type { Criterion } from '../../rubric/criterion.ts'
import { partThinking, type ThoughtResponse } from '../thinking.ts'
import { grammarHintTokens } from '../thinking-grammar/hints.ts'
import { ARITHMETIC_GRAMMAR } from './predicates.ts'
import { type ArithmeticProblem, chainText } from './problem.ts'
import { ARITHMETIC_PIECES, ARITHMETIC_TOKENS, PIECES } from './vocabulary.ts'

/** ` 7 + 5 * 3`: every piece brings the blank before it. */
const questionTokens = (problem: ArithmeticProblem): number[] =>
  ARITHMETIC_PIECES.encode(` ${chainText(problem)}`)

/** `<bos> 7 + 5 * 3 [hints] <think>`. */
export const reasonerPrompt = (problem: ArithmeticProblem, hints: readonly Criterion[] = []): number[] => [
  ARITHMETIC_TOKENS.bos,
  ...questionTokens(problem),
  ...grammarHintTokens(ARITHMETIC_GRAMMAR, ARITHMETIC_PIECES, hints),
  ARITHMETIC_PIECES.token(PIECES.think),
]

/** The question, one response's thinking, and the word that asks for a rubric. */
export const rubricatorPrompt = (
  problem: ArithmeticProblem,
  { thinking, closed }: ThoughtResponse,
): number[] => [
  ...reasonerPrompt(problem),
  ...thinkingTokens(thinking),
  ...(closed ? [ARITHMETIC_PIECES.token(PIECES.endThink)] : []),
  ARITHMETIC_PIECES.token(PIECES.rubric),
]

/** Thinking that was read back, as it was written: a line break before every line. */
const thinkingTokens = (thinking: string): number[] =>
  thinking === ''
    ? []
    : thinking
        .split('\n')
        .flatMap(line =>
          ARITHMETIC_PIECES.encode(/^\d/.test(line.trim()) ? `\n ${line.trim()}` : `\n${line.trim()}`),
        )

export const readResponse = (tokens: ArrayLike<number>): ThoughtResponse =>
  partThinking(ARITHMETIC_PIECES.decode(tokens))

const ANSWER = /^answer (\d)$/

/** The digit that a response answers; null where it does not. */
export const answeredDigit = ({ answer }: ThoughtResponse): number | null => {
  const found = ANSWER.exec(answer)
  return found ? Number(found[1]) : null
}
