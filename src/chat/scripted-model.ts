/** @file A chat model that is a function: for tests, examples and dry runs. */

import type { ChatModel, ChatRequest, ChatResponse } from './chat-model.ts'

/** Its text, or as much of a response as matters; `call` counts from 0. A thrown error is the model's. */
export type Script = (
  request: ChatRequest,
  call: number,
) => string | Partial<ChatResponse> | Promise<string | Partial<ChatResponse>>

/**
 * A chat model whose answers a function gives.
 * @example
 * const model = scriptedModel(({ messages }, call) => `${call}: ${messages[0].content}`)
 * const { text } = await model.complete({ messages: [{ role: 'user', content: 'Hello' }] })
 * text // '0: Hello'
 * model.calls // 1
 */
export const scriptedModel = (script: Script, name = 'scripted'): ChatModel & { readonly calls: number } => {
  let calls = 0
  return {
    name,
    get calls() {
      return calls
    },
    async complete(request) {
      const answer = await script(request, calls++)
      return {
        text: '',
        finishReason: 'stop',
        usage: { promptTokens: null, completionTokens: null, cachedTokens: null },
        ...(typeof answer === 'string' ? { text: answer } : answer),
      }
    },
  }
}
