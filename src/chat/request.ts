/** @file A chat request as the body of `/v1/chat/completions`. */

import { canonicalJson } from '../util/canonical.ts'
import type { AnswerSchema, ChatRequest } from './chat-model.ts'

/**
 * How a server is asked for JSON, strictest first.
 * - `structured_outputs`: vLLM's own field (0.12 and later; `guided_json` is gone there)
 * - `json_schema`: `response_format` with a schema (OpenAI, vLLM, SGLang, llama.cpp)
 * - `json_object`: `response_format` that promises JSON of any shape
 * - `none`: the prompt alone asks
 */
export const STRUCTURED_OUTPUTS = ['structured_outputs', 'json_schema', 'json_object', 'none'] as const
export type StructuredOutput = (typeof STRUCTURED_OUTPUTS)[number]

export const MAX_TOKENS_FIELDS = ['max_tokens', 'max_completion_tokens'] as const
export type MaxTokensField = (typeof MAX_TOKENS_FIELDS)[number]

export interface BodySettings {
  model: string
  structuredOutput: StructuredOutput
  maxTokensField: MaxTokensField
  /** `top_k` is not in OpenAI's API; servers that have it must be told apart by the user. */
  sendTopK: boolean
  extraBody: Readonly<Record<string, unknown>>
}

/** Of an endpoint unless it says otherwise. */
export const STRUCTURED_OUTPUT_DEFAULT: StructuredOutput = 'json_schema'

/**
 * What an endpoint's settings change about its answers (`ChatModel.variant`); empty for settings at their defaults. Where the
 * server is, headers and keys are no part of it.
 */
export const variantOf = ({
  structuredOutput,
  sendTopK,
  extraBody,
}: Pick<BodySettings, 'structuredOutput' | 'sendTopK' | 'extraBody'>): string => {
  const changed = {
    ...(structuredOutput !== STRUCTURED_OUTPUT_DEFAULT && { structuredOutput }),
    ...(sendTopK && { sendTopK }),
    ...(Object.keys(extraBody).length > 0 && { extraBody }),
  }
  return Object.keys(changed).length > 0 ? canonicalJson(changed) : ''
}

const structuredFields = (mode: StructuredOutput, { name, schema }: AnswerSchema): object => {
  switch (mode) {
    case 'structured_outputs':
      return { structured_outputs: { json: schema } }
    case 'json_schema':
      return { response_format: { type: 'json_schema', json_schema: { name, schema, strict: true } } }
    case 'json_object':
      return { response_format: { type: 'json_object' } }
    case 'none':
      return {}
  }
}

/** The body as JSON text. `extraBody` comes last: what the user writes there wins. */
export const requestBody = (request: ChatRequest, settings: BodySettings): string =>
  JSON.stringify({
    model: settings.model,
    messages: request.messages,
    [settings.maxTokensField]: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    top_k: settings.sendTopK ? request.topK : undefined,
    presence_penalty: request.presencePenalty,
    seed: request.seed,
    stop: request.stop,
    ...(request.topLogprobs === undefined ? {} : { logprobs: true, top_logprobs: request.topLogprobs }),
    ...(request.answerSchema ? structuredFields(settings.structuredOutput, request.answerSchema) : {}),
    ...settings.extraBody,
  })
