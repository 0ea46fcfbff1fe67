/** @file The chat server's wire: the requests of the OpenAI-compatible endpoints that it understands, and its errors. */

import { z } from 'zod'
import { GradusError } from '../../util/errors.ts'
import { plainList, shortList } from '../../util/untrusted-lists.ts'

const textPart = z.looseObject({ type: z.literal('text'), text: z.string() })

const messageSchema = z.looseObject({
  role: z.string(),
  /** Plain text, or parts of which only text is understood. */
  content: z.union([z.string(), z.array(textPart)]).nullish(),
})

const stopSchema = z
  .union([z.string().min(1), z.array(z.string().min(1)).max(16)])
  .nullish()
  .transform(stop => (typeof stop === 'string' ? [stop] : (stop ?? [])))

const noPenalty = z
  .number()
  .refine(penalty => penalty === 0, '0; this server has no penalties')
  .nullish()

/** Below it log-probs divided by it leave the range of 32-bit numbers, and the likeliest token is certain anyway. */
const LEAST_TEMPERATURE = 0.001

/** Settings of both endpoints; clients send much else, which changes nothing here and is let through. */
const common = {
  model: z.string().nullish(),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .refine(
      value => value === 0 || value >= LEAST_TEMPERATURE,
      `0, or at least ${LEAST_TEMPERATURE}; 0 is greedy`,
    )
    .nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.int().nullish(),
  n: z.int().min(1).max(128).nullish(),
  seed: z.int().nullish(),
  stop: stopSchema,
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  // What would change the answer and is not implemented is refused rather than ignored.
  presence_penalty: noPenalty,
  frequency_penalty: noPenalty,
}

export const chatRequestSchema = z.looseObject({
  ...common,
  messages: shortList(messageSchema, 10_000, 'messages').refine(
    ({ length }) => length > 0,
    'at least 1 entry',
  ),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  response_format: z
    .looseObject({
      type: z
        .string()
        .refine(type => type === 'text', 'the type "text"; this server cannot enforce a structure'),
    })
    .nullish(),
  tools: z.array(z.unknown()).max(0, 'no tools; this server calls none').nullish(),
})
export type ChatRequestBody = z.output<typeof chatRequestSchema>

/** Prompts in one request. */
const MOST_PROMPTS = 256

const isId = (value: unknown): boolean => typeof value === 'number' && Number.isInteger(value) && value >= 0

const tokenIds = plainList(isId, 'a token id, a whole number from 0', list => list as number[]).refine(
  ({ length }) => length > 0,
  'at least 1 entry',
)

const prompts = <S extends z.ZodType>(prompt: S) =>
  shortList(prompt, MOST_PROMPTS, 'prompts').refine(({ length }) => length > 0, 'at least 1 entry')

export const completionRequestSchema = z.looseObject({
  ...common,
  prompt: z.union([z.string(), tokenIds, prompts(z.string()), prompts(tokenIds)]),
  max_tokens: z.int().positive().nullish(),
  logprobs: z.int().min(0).max(20).nullish(),
  // vLLM's fields for whoever works with tokens.
  /** These end a sample as well. */
  stop_token_ids: z.array(z.int().nonnegative()).max(64).nullish(),
  /** The model's own end-of-text tokens do not. */
  ignore_eos: z.boolean().nullish(),
  /** Token ids of prompt and answer; log-probs are then those of all its tokens, the last one included. */
  return_token_ids: z.boolean().nullish(),
  /** Tokens of log-probs are written `token_id:42`. */
  return_tokens_as_token_ids: z.boolean().nullish(),
  /** Log-probs of the prompt's own tokens, at temperature 1. */
  prompt_logprobs: z
    .int()
    .refine(count => count === 0, '0; this server gives no alternatives to the tokens of a prompt')
    .nullish(),
  echo: z
    .boolean()
    .refine(echo => !echo, 'false; this server does not echo prompts')
    .nullish(),
  suffix: z
    .string()
    .refine(suffix => suffix === '', 'no suffix; this server only continues text')
    .nullish(),
})
export type CompletionRequestBody = z.output<typeof completionRequestSchema>

/** An error that the client sees: status and the `error` object of the protocol. */
export class WireError extends GradusError {
  readonly status: 400 | 401 | 403 | 404 | 408 | 413 | 421 | 429 | 431 | 500 | 503
  readonly wireCode: string | null

  constructor(status: WireError['status'], message: string, wireCode: string | null = null) {
    super(message)
    this.status = status
    this.wireCode = wireCode
  }

  body() {
    const type = this.status < 500 ? 'invalid_request_error' : 'server_error'
    return { error: { message: this.message.slice(0, 4_000), type, param: null, code: this.wireCode } }
  }
}

/** Text of a message whose content may come in parts. */
export const contentText = (content: z.output<typeof messageSchema>['content']): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join('')
