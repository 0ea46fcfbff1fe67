/** @file A policy as a chat model in this process: what asks an endpoint can ask a checkpoint, or the policy in training. */

import { randomUUID } from 'node:crypto'
import type { ChatModel, ChatRequest, ChatResponse, TokenLogprob } from '../../chat/chat-model.ts'
import type { ChatFormat } from '../../model/chat-format.ts'
import type { Tokenizer } from '../../model/tokenizer.ts'
import { JudgeError } from '../../util/errors.ts'
import type { Policy, Sample } from '../policy.ts'
import { Batcher, type BatcherOptions } from './batcher.ts'
import { type LocalChatOptions, openLocalChat } from './local-chat.ts'
import { showSample } from './text.ts'

export interface PolicyChatParts {
  /** Two models must never share one; a policy in training is another model after every step. */
  name: string
  /** See `ChatModel.variant`. */
  variant?: string
  policy: Pick<Policy, 'sample'>
  format: ChatFormat
  tokenizer: Tokenizer
}

const refused = (name: string, message: string, hint: string): JudgeError =>
  new JudgeError('bad-request', `${name}: ${message}`, { hint })

/** Tokens of the prompt, and how many may follow. @throws JudgeError for what the policy cannot do */
const checkedPrompt = ({ name, format }: PolicyChatParts, request: ChatRequest) => {
  // What would change the answer and cannot be done is refused; a structure is asked for by the prompt itself as well.
  if (request.presencePenalty !== undefined && request.presencePenalty !== 0)
    throw new JudgeError(
      'config',
      `${name}: presencePenalty: expected none, got ${request.presencePenalty}; sampling in this process has no penalties`,
      { hint: 'set it to null' },
    )
  const promptTokens = format.encode(request.messages)
  const room = format.maxPositions - promptTokens.length
  const maxTokens = Math.min(request.maxTokens ?? room, room)
  if (promptTokens.length === 0) throw refused(name, 'the prompt has no tokens', 'say something')
  if (maxTokens < 1)
    throw refused(
      name,
      `the prompt has ${promptTokens.length} tokens, the context ${format.maxPositions}`,
      'shorten it, or take a model with a longer context',
    )
  return { promptTokens, maxTokens }
}

const responseOf = (
  { tokenizer, format, name }: PolicyChatParts,
  request: ChatRequest,
  promptTokens: readonly number[],
  sample: Sample,
): ChatResponse => {
  const shown = showSample(tokenizer, sample, request.stop ?? [], new Set(format.stopTokens))
  const logprobs: TokenLogprob[] = shown.tokens.map(({ token, logprob, top }) => ({ token, logprob, top }))
  return {
    text: shown.text,
    finishReason: shown.finishReason,
    usage: { promptTokens: promptTokens.length, completionTokens: sample.tokens.length, cachedTokens: null },
    ...(request.topLogprobs !== undefined && { logprobs }),
    model: name,
  }
}

/** The promise, or a cancellation as soon as the signal is aborted; what is being sampled is finished for nobody. */
const unlessAborted = <T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const onAbort = () =>
      reject(new JudgeError('cancelled', 'the caller cancelled', { cause: signal.reason }))
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/**
 * A chat model over any policy. Requests that wait with the same settings are sampled together; the same seed gives the same
 * answer, whoever else is in the batch. `maxTokens` beyond the context is cut to it. An answer's structure (`answerSchema`) is
 * not enforced. `close` waits for what is under way and leaves the policy open.
 */
export const policyChatModel = (parts: PolicyChatParts, options?: BatcherOptions): ChatModel => {
  const { name, variant, policy, format } = parts
  const batcher = new Batcher(policy, options)
  return {
    name,
    variant,
    async complete(request) {
      const { promptTokens, maxTokens } = checkedPrompt(parts, request)
      const sampling = batcher.submit({
        promptTokens,
        options: {
          maxTokens,
          temperature: request.temperature ?? 1,
          topP: request.topP ?? 1,
          topK: Math.max(0, request.topK ?? 0),
          topLogprobs: request.topLogprobs ?? 0,
          stopTokens: format.stopTokens,
          stopStrings: request.stop ?? [],
        },
        count: 1,
        // As the chat server names the first prompt of a request, so that both answer alike.
        seed: `${request.seed ?? randomUUID()}/0`,
      })
      const [sample] = await unlessAborted(sampling, request.signal)
      return responseOf(parts, request, promptTokens, sample)
    },
    close: () => batcher.drain(),
  }
}

/**
 * The checkpoint in a folder as a chat model; `close` ends its engine.
 * @throws CheckpointError when there is no checkpoint, no tokenizer, or one that does not fit
 * @example
 * const model = await localChatModel('package:models/logic-start', { threads: 1 })
 * const content = 'every wumpus is happy. rex is a wumpus.'
 * const { usage } = await model.complete({ messages: [{ role: 'user', content }], maxTokens: 1 })
 * usage.completionTokens // 1
 * await model.close?.()
 */
export const localChatModel = async (
  folder: string,
  options: BatcherOptions & LocalChatOptions = {},
): Promise<ChatModel> => {
  const chat = await openLocalChat(folder, options)
  const model = policyChatModel(chat, options)
  return {
    ...model,
    async close() {
      await model.close?.()
      await chat.policy.close()
    },
  }
}
