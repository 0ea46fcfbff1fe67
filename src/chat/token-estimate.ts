/** @file Tokens of a request before it is made: from its characters, corrected by what servers counted before. */

import type { ChatRequest, ChatUsage } from './chat-model.ts'

/** English prose in the tokenizers of current models; only the start of the estimate. */
export const TOKENS_PER_CHARACTER = 0.25
/** A verdict with its reasoning; only the start of the estimate. */
export const COMPLETION_TOKENS = 256
/** Weight of a new observation in the running means. */
const NEW_SHARE = 0.05

/** Characters of all messages: UTF-16 code units, which is enough for an estimate. */
export const charactersOf = ({ messages }: Pick<ChatRequest, 'messages'>): number => {
  let characters = 0
  for (const { content } of messages) characters += content.length
  return characters
}

export class TokenEstimator {
  #perCharacter = TOKENS_PER_CHARACTER
  #completion = COMPLETION_TOKENS

  /** Prompt and completion together. @param characters of the prompt */
  tokens(characters: number, maxTokens = Number.POSITIVE_INFINITY): number {
    return Math.ceil(characters * this.#perCharacter + Math.min(maxTokens, this.#completion))
  }

  observe(characters: number, { promptTokens, completionTokens }: ChatUsage): void {
    if (promptTokens !== null && characters > 0)
      this.#perCharacter += NEW_SHARE * (promptTokens / characters - this.#perCharacter)
    if (completionTokens !== null) this.#completion += NEW_SHARE * (completionTokens - this.#completion)
  }
}
