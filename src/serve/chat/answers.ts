/** @file What the chat server answers: chat completions and text completions, whole or in pieces. */

import { randomUUID } from 'node:crypto'
import type { Batcher } from '../../policy/chat/batcher.ts'
import type { LocalChat } from '../../policy/chat/local-chat.ts'
import { type ShownSample, type ShownToken, StreamedText, showSample } from '../../policy/chat/text.ts'
import type { Sample, SampledToken } from '../../policy/policy.ts'
import { type Generation, generate, generationUsage, promptLogprobs, show } from './generation.ts'

/** How one endpoint writes a choice; the rest of an answer is common to both. */
interface Shape {
  id: string
  object: string
  chunkObject: string
  /** A finished choice. */
  whole(shown: ShownSample, withLogprobs: boolean): Record<string, unknown>
  /** A piece of a choice; null ends it. */
  piece(text: string | null, logprobs: unknown): Record<string, unknown>
  /** Log-probs of tokens in the endpoint's own layout. */
  logprobs(tokens: ShownSample['tokens']): unknown
  /** What a stream says before the first piece of a choice. */
  opening: Record<string, unknown> | null
}

const alternatives = (top: readonly ShownToken[]) =>
  Object.fromEntries(top.map(({ token, logprob }) => [token, logprob]))

export const CHAT: Shape = {
  id: 'chatcmpl',
  object: 'chat.completion',
  chunkObject: 'chat.completion.chunk',
  whole({ text, tokens }, withLogprobs) {
    const message = { role: 'assistant', content: text, refusal: null }
    return { message, logprobs: withLogprobs ? this.logprobs(tokens) : null }
  },
  piece: (text, logprobs) => ({ delta: text === null ? {} : { content: text }, logprobs }),
  logprobs: tokens => ({
    content: tokens.map(({ token, logprob, bytes, top }) => ({ token, logprob, bytes, top_logprobs: top })),
    refusal: null,
  }),
  opening: { delta: { role: 'assistant', content: '' }, logprobs: null },
}

export const COMPLETION: Shape = {
  id: 'cmpl',
  object: 'text_completion',
  chunkObject: 'text_completion',
  whole({ text, tokens }, withLogprobs) {
    return { text, logprobs: withLogprobs ? this.logprobs(tokens) : null }
  },
  piece: (text, logprobs) => ({ text: text ?? '', logprobs }),
  logprobs: tokens => ({
    tokens: tokens.map(({ token }) => token),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ top }) => alternatives(top)),
    text_offset: tokens.map(({ offset }) => offset),
  }),
  opening: null,
}

const head = (shape: Shape, model: LocalChat) => ({
  id: `${shape.id}-${randomUUID()}`,
  created: Math.floor(Date.now() / 1000),
  model: model.name,
})

/** Every token of a sample, the one that ended it too. */
const allTokens = (
  { tokenizer }: LocalChat,
  sample: Sample,
  { spelled }: Generation['ids'],
): ShownSample['tokens'] => {
  const { tokens } = showSample(tokenizer, sample, [], new Set())
  if (!spelled) return tokens
  const name = (id: number) => `token_id:${id}`
  return tokens.map((shown, t) => ({
    ...shown,
    token: name(sample.tokens[t]),
    top: shown.top.map((each, k) => ({ ...each, token: name(sample.top![t][k].token) })),
  }))
}

/** The whole answer to a request, in one object. */
export const wholeAnswer = async (
  shape: Shape,
  model: LocalChat,
  batcher: Batcher,
  request: Generation,
  withLogprobs: boolean,
) => {
  const { id, ...rest } = head(shape, model)
  const samples = await generate(model, batcher, request)
  const { prompts, count, ids } = request
  const ofPrompts = ids.promptLogprobs ? await promptLogprobs(model, prompts) : null
  const choices = show(model, samples, request).map((shown, index) => {
    const sample = samples[index]
    const prompt = Math.floor(index / count)
    const full = ids.returned || ids.spelled ? { ...shown, tokens: allTokens(model, sample, ids) } : shown
    return {
      index,
      ...shape.whole(full, withLogprobs),
      finish_reason: shown.finishReason,
      ...(ids.returned && { token_ids: [...sample.tokens], prompt_token_ids: prompts[prompt] }),
      ...(ofPrompts && { prompt_logprobs: ofPrompts[prompt] }),
    }
  })
  return { id, object: shape.object, ...rest, choices, usage: generationUsage(request, samples) }
}

/** Text of one choice as it grows, with the log-probs of the tokens since the last piece. */
class Choice {
  readonly #text: StreamedText
  readonly #model: LocalChat
  readonly #ends: ReadonlySet<number>
  #tokens: ShownSample['tokens'] = []
  #offset = 0

  constructor(model: LocalChat, { stops, endTokens }: Generation) {
    this.#model = model
    this.#ends = new Set(endTokens)
    this.#text = new StreamedText(model.tokenizer, stops)
  }

  push({ token, logprob, top }: SampledToken): { text: string; tokens: ShownSample['tokens'] } {
    const sample = {
      prompt: 0,
      index: 0,
      tokens: Int32Array.of(token),
      logprobs: Float32Array.of(logprob),
      ...(top && { top: [top] }),
      finishReason: 'length' as const,
    }
    this.#tokens.push(
      ...showSample(this.#model.tokenizer, sample, [], this.#ends).tokens.map(shown => ({
        ...shown,
        offset: this.#offset,
      })),
    )
    return this.#handOut(this.#text.push(token))
  }

  end() {
    return this.#handOut(this.#text.end())
  }

  #handOut(text: string) {
    if (text === '') return { text, tokens: [] }
    const tokens = this.#tokens
    this.#tokens = []
    this.#offset += text.length
    return { text, tokens }
  }
}

export interface StreamSettings {
  withLogprobs: boolean
  includeUsage: boolean
}

/** The answer in pieces: `send` gets each as JSON text. The last one says why each choice ended. */
export const streamAnswer = async (
  shape: Shape,
  model: LocalChat,
  batcher: Batcher,
  request: Generation,
  { withLogprobs, includeUsage }: StreamSettings,
  send: (data: string) => void,
): Promise<void> => {
  const { id, ...rest } = head(shape, model)
  const chunk = (choices: unknown[], usage: unknown = null) =>
    send(JSON.stringify({ id, object: shape.chunkObject, ...rest, choices, ...(includeUsage && { usage }) }))
  const choices = request.prompts.flatMap(() =>
    Array.from({ length: request.count }, () => new Choice(model, request)),
  )
  const piece = (index: number, { text, tokens }: ReturnType<Choice['end']>) => {
    if (text === '') return
    const logprobs = withLogprobs ? shape.logprobs(tokens) : null
    chunk([{ index, ...shape.piece(text, logprobs), finish_reason: null }])
  }
  if (shape.opening)
    choices.forEach((_, index) => {
      chunk([{ index, ...shape.opening, finish_reason: null }])
    })
  const samples = await generate(model, batcher, request, (index, token) =>
    piece(index, choices[index].push(token)),
  )
  samples.forEach(({ finishReason }, index) => {
    piece(index, choices[index].end())
    chunk([{ index, ...shape.piece(null, null), finish_reason: finishReason }])
  })
  if (includeUsage) chunk([], generationUsage(request, samples))
  send('[DONE]')
}
