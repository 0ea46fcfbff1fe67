/** @file How logic problems are shown to a policy and its tokens read back: the miniature's words, or a chat model's template. */

import type { ChatMessage } from '../../chat/chat-model.ts'
import { type ChatFormat, chatFormatOf, type TokenText } from '../../model/chat-format.ts'
import type { ModelConfig } from '../../model/config.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { decodeWithOffsets, encodePrompt, encodeResponse } from '../../tasks/logic/format.ts'
import { TEN_KINDS_HOPS } from '../../tasks/logic/generator.ts'
import { LOGIC_TOKENS, WORD_COUNT } from '../../tasks/logic/vocabulary.ts'
import { ConfigError } from '../../util/errors.ts'
import { logicTokensOf } from '../common/starting-model.ts'
import { SYSTEM_PROMPT, userPrompt, userPromptWithFormulas } from './prompts.ts'

/** The two directions between a problem and a policy's tokens. */
export interface LogicFormat {
  prompt(problem: LogicTaskExample): TokenIds
  /** The prompt as a person reads it. */
  show(problem: LogicTaskExample): string
  read(tokens: ArrayLike<number>): TokenText
  /** Tokens of the gold response; null or absent where that is not known. */
  goldTokens?(problem: LogicTaskExample): number | null
  stopTokens: readonly number[]
}

/** Word-level tokens of the small model. @param vocabulary how many of them it has */
export const miniatureFormat = (vocabulary = WORD_COUNT): LogicFormat => ({
  prompt: problem => encodePrompt(problem, vocabulary),
  goldTokens: problem => (problem.proof ? encodeResponse(problem, vocabulary).length : null),
  show: ({ context, conclusion }) => `${context}\nQuestion: ${conclusion}`,
  read: tokens => decodeWithOffsets(tokens),
  stopTokens: [LOGIC_TOKENS.eos],
})

/** What a chat model is told of a problem: our system prompt, and the problem as the user's turn. */
export const logicMessages = (problem: LogicTaskExample, { formulas }: ShownFormulas = {}): ChatMessage[] => [
  { role: 'system', content: SYSTEM_PROMPT },
  { role: 'user', content: (formulas === 'shown' ? userPromptWithFormulas : userPrompt)(problem) },
]

/** A pretrained chat model: our system prompt, the problem as the user's turn, the model's own template. */
const chatLogicFormat = ({ encode, read, stopTokens }: ChatFormat, shown: ShownFormulas): LogicFormat => {
  return {
    prompt: problem => encode(logicMessages(problem, shown)),
    show: problem => logicMessages(problem, shown)[1].content,
    read,
    stopTokens,
  }
}

/** Whether a chat prompt shows formulas beside the sentences; absent: hidden. */
export interface ShownFormulas {
  formulas?: 'hidden' | 'shown'
}

/** How a problem is shown: the small model's word-level tokens, or a chat prompt through the model's own template. */
export type PromptKind = 'miniature' | 'chat'

/**
 * The format of a kind of prompt for the model in a folder.
 * @throws CheckpointError when a chat model lacks its tokenizer or its template.
 */
export const formatFor = (prompt: PromptKind, folder: string, shown: ShownFormulas = {}): LogicFormat =>
  prompt === 'miniature'
    ? miniatureFormat(logicTokensOf(folder))
    : chatLogicFormat(chatFormatOf(folder, 'task.prompt "chat"'), shown)

/**
 * Refuses problems that leave no room for an answer.
 * @param maxTokens most tokens of an answer
 * @param section where that is set, with a dot behind it
 * @throws DataError as sampling does; ConfigError where an answer has less room than the gold proof takes
 */
export const assertProblemsFit = (
  problems: readonly LogicTaskExample[],
  format: Pick<LogicFormat, 'prompt' | 'goldTokens'>,
  maxTokens: number,
  { maxPositions }: Pick<ModelConfig, 'maxPositions'>,
  section = '',
): void => {
  for (const problem of problems) {
    assertProofFits(problem, format, maxTokens, section)
    assertRoom(`problem ${problem.id}`, format.prompt(problem).length, maxTokens, maxPositions)
  }
}

/** Of short problems any limit is taken: who wants to see them cut may. */
const assertProofFits = (
  problem: LogicTaskExample,
  format: Pick<LogicFormat, 'goldTokens'>,
  maxTokens: number,
  section: string,
): void => {
  const { hops = 0, label, id } = problem
  if (hops <= TEN_KINDS_HOPS || label === 'Unknown') return
  const needed = format.goldTokens?.(problem) ?? null
  if (needed !== null && needed > maxTokens)
    throw new ConfigError(
      `${section}maxTokens: expected at least ${needed}, which the proof of problem ${id} takes with its ${hops} hops, got ${maxTokens}`,
      {
        hint: 'a proof of h hops and its answer take up to 11 h + 11 tokens; one that states the properties it passes, 18 h + 1',
      },
    )
}

/** Tokens [start, end) that share a character with [from, to) of the text; null when none does. */
export const tokensOfSpan = (
  { ends }: TokenText,
  from: number,
  to: number,
): { start: number; end: number } | null => {
  let start = -1
  let end = -1
  for (let i = 0; i < ends.length; i++) {
    const begin = i === 0 ? 0 : ends[i - 1]
    if (Math.min(ends[i], to) <= Math.max(begin, from)) continue
    if (start < 0) start = i
    end = i + 1
  }
  return start < 0 ? null : { start, end }
}
