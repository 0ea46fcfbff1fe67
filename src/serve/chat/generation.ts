/** @file From a request's settings to samples: limits of the context, sampling options, the batch. */

import { randomUUID } from 'node:crypto'
import type { Batcher } from '../../policy/chat/batcher.ts'
import type { LocalChat } from '../../policy/chat/local-chat.ts'
import { type ShownSample, showSample } from '../../policy/chat/text.ts'
import type { Sample, SampledToken } from '../../policy/policy.ts'
import type { Prompts } from './prompts.ts'
import { type ChatRequestBody, type CompletionRequestBody, contentText, WireError } from './wire.ts'

/** What both endpoints ask of the model. */
export interface Generation {
  prompts: number[][]
  maxTokens: number | null
  temperature: number
  topP: number
  topK: number
  topLogprobs: number
  count: number
  seed: number | null
  stops: readonly string[]
  /** A sample ends with one of these. */
  endTokens: readonly number[]
  /** What is told of tokens by their ids. */
  ids: TokenFields
}

/** vLLM's fields of an answer. */
interface TokenFields {
  returned: boolean
  spelled: boolean
  /** Of the prompts' own tokens. */
  promptLogprobs: boolean
}

const NO_IDS: TokenFields = { returned: false, spelled: false, promptLogprobs: false }

export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

/** What a request leaves open is as the model's generation_config.json has it. */
const common = ({ generation: { sampling } }: LocalChat, body: ChatRequestBody | CompletionRequestBody) => ({
  temperature: body.temperature ?? sampling.temperature ?? 1,
  topP: body.top_p ?? sampling.topP ?? 1,
  topK: Math.max(0, body.top_k ?? sampling.topK ?? 0),
  count: body.n ?? 1,
  seed: body.seed ?? null,
  stops: body.stop,
})

/** The conversation in the model's template as one prompt. @throws WireError for roles that the template refuses. */
export const chatGeneration = async (
  model: LocalChat,
  prompts: Prompts,
  body: ChatRequestBody,
): Promise<Generation> => {
  const messages = body.messages.map(message => ({ ...message, content: contentText(message.content) }))
  return {
    ...common(model, body),
    prompts: await prompts.of({ messages }),
    maxTokens: body.max_completion_tokens ?? body.max_tokens ?? null,
    topLogprobs: body.logprobs ? (body.top_logprobs ?? 0) : 0,
    endTokens: model.format.stopTokens,
    ids: NO_IDS,
  }
}

/** One prompt or several, as text or as token ids. */
export const completionGeneration = async (
  model: LocalChat,
  prompts: Prompts,
  body: CompletionRequestBody,
): Promise<Generation> => {
  const { prompt } = body
  const ids = {
    returned: body.return_token_ids ?? false,
    spelled: body.return_tokens_as_token_ids ?? false,
    promptLogprobs: body.prompt_logprobs !== null && body.prompt_logprobs !== undefined,
  }
  if (body.stream && Object.values(ids).includes(true))
    throw new WireError(
      400,
      'token ids and log-probs of prompts come with whole answers; set stream to false',
    )
  const given = (Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt : [prompt]) as
    | string[]
    | number[][]
  const isText = (list: string[] | number[][]): list is string[] => typeof list[0] === 'string'
  return {
    ...common(model, body),
    prompts: isText(given) ? await prompts.of({ texts: given }) : given,
    maxTokens: body.max_tokens ?? 16,
    topLogprobs: body.logprobs ?? 0,
    endTokens: [...(body.ignore_eos ? [] : model.format.stopTokens), ...(body.stop_token_ids ?? [])],
    ids,
  }
}

/** @throws WireError 400 for prompts that the model cannot take. */
export const checkPrompts = ({ config }: LocalChat, { prompts, maxTokens }: Generation): void => {
  const { maxPositions, vocabSize } = config
  for (const prompt of prompts) {
    if (prompt.length === 0) throw new WireError(400, 'the prompt has no tokens')
    if (prompt.length + (maxTokens ?? 1) > maxPositions)
      throw new WireError(
        400,
        `the prompt has ${prompt.length} tokens and ${maxTokens ?? 1} new ones are asked for; the context has ${maxPositions}`,
        'context_length_exceeded',
      )
    if (prompt.some(token => token >= vocabSize))
      throw new WireError(400, `a prompt token is outside the vocabulary of ${vocabSize}`)
  }
}

/**
 * Samples every prompt of a request. `onToken` is told the choice (prompt x n + sample) that a token belongs to.
 * @throws WireError for prompts that do not fit and when too many requests wait.
 */
export const generate = async (
  model: LocalChat,
  batcher: Batcher,
  request: Generation,
  onToken?: (choice: number, token: SampledToken) => void,
): Promise<Sample[]> => {
  checkPrompts(model, request)
  const { prompts, count, temperature, topP, topK, topLogprobs, stops, endTokens, maxTokens } = request
  const seed = request.seed ?? randomUUID()
  const groups = await Promise.all(
    prompts.map((promptTokens, p) =>
      batcher.submit({
        promptTokens,
        options: {
          maxTokens: maxTokens ?? model.config.maxPositions - promptTokens.length,
          temperature,
          topP,
          topK,
          topLogprobs,
          stopTokens: endTokens,
          stopStrings: stops,
        },
        count,
        seed: `${seed}/${p}`,
        ...(onToken && { onToken: token => onToken(p * count + token.index, token) }),
      }),
    ),
  )
  return groups.flat()
}

export const show = (
  model: LocalChat,
  samples: readonly Sample[],
  { stops, endTokens }: Generation,
): ShownSample[] => {
  const ends = new Set(endTokens)
  return samples.map(sample => showSample(model.tokenizer, sample, stops, ends))
}

/** Log-probs of each prompt's tokens, as vLLM writes them: null for the first, `{"42": {logprob}}` for the others. */
export const promptLogprobs = async (
  { policy }: LocalChat,
  prompts: readonly number[][],
): Promise<(Record<string, { logprob: number }> | null)[][]> => {
  const items = prompts.map(prompt => ({ promptTokens: prompt.slice(0, 1), tokens: prompt.slice(1) }))
  const scores = await policy.score(items)
  return items.map(({ tokens }, p) => [
    null,
    ...tokens.map((id, t) => ({ [id]: { logprob: scores[p].logprobs[t] } })),
  ])
}

export const generationUsage = ({ prompts }: Generation, samples: readonly Sample[]): Usage => {
  const promptTokens = prompts.reduce((sum, { length }) => sum + length, 0)
  const completionTokens = samples.reduce((sum, { tokens }) => sum + tokens.length, 0)
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}
