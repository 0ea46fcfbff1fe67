/** @file A chat request as the body of `/v1/chat/completions`. */

import { canonicalJson } from '../util/canonical.ts'
import type { AnswerSchema, ChatRequest } from './chat-model.ts'
import type { Incoming } from './exchange.ts'

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

/** Settings of sampling that a server may not have; it is then asked without them. */
export const SAMPLING_FIELDS = ['temperature', 'top_p', 'top_k', 'presence_penalty', 'seed'] as const
export type SamplingField = (typeof SAMPLING_FIELDS)[number]

export interface BodySettings {
  model: string
  structuredOutput: StructuredOutput
  maxTokensField: MaxTokensField
  /** Whether the server is known to have `top_k`, which is not in OpenAI's API; false: it is never sent. */
  sendTopK: boolean | null
  /** What the server has refused so far. */
  leftOut: readonly SamplingField[]
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
    ...(sendTopK !== null && { sendTopK }),
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

const samplingFields = (request: ChatRequest, { sendTopK, leftOut }: BodySettings): object => {
  const asked: Record<SamplingField, number | undefined> = {
    temperature: request.temperature,
    top_p: request.topP,
    top_k: sendTopK === false ? undefined : request.topK,
    presence_penalty: request.presencePenalty,
    seed: request.seed,
  }
  for (const field of leftOut) delete asked[field]
  return asked
}

/** The body as JSON text. `extraBody` comes last: what the user writes there wins. */
export const requestBody = (request: ChatRequest, settings: BodySettings): string =>
  JSON.stringify({
    model: settings.model,
    messages: request.messages,
    [settings.maxTokensField]: request.maxTokens,
    ...samplingFields(request, settings),
    stop: request.stop,
    ...(request.topLogprobs === undefined ? {} : { logprobs: true, top_logprobs: request.topLogprobs }),
    ...(request.answerSchema ? structuredFields(settings.structuredOutput, request.answerSchema) : {}),
    ...settings.extraBody,
  })

const LADDER: Record<StructuredOutput, StructuredOutput | null> = {
  structured_outputs: 'json_schema',
  json_schema: 'json_object',
  json_object: 'none',
  none: null,
}
const ABOUT_STRUCTURE = /response_format|json_schema|json_object|structured|guided|grammar|schema/i

/** Words with which servers say that they do not have a parameter. One that is out of its range is the user's to correct. */
const NO_SUCH_PARAMETER =
  /unknown|un(?:recogni[sz]ed|supported|expected)|(?:not|n't) (?:support|permit|allow|recogni[sz])|not (?:available|implemented)|extra (?:input|field|_forbidden)|extra_forbidden|additional propert|invalid (?:parameter|argument|field)|no such (?:parameter|argument|field)/i

const names = (text: string, field: string): boolean => new RegExp(`(?<![\\w-])${field}(?![\\w-])`).test(text)

/** The sampling setting of this body that the server says it does not have; null where it speaks of none. */
const refusedField = (sent: string, said: string): SamplingField | null => {
  if (!NO_SUCH_PARAMETER.test(said)) return null
  const body = JSON.parse(sent) as Record<string, unknown>
  return SAMPLING_FIELDS.find(field => field in body && names(said, field)) ?? null
}

/**
 * The next simpler way to ask, where the server's refusal speaks of what was asked for; else null.
 * @param first how this call was asked first: the name of the token limit is changed once, not to and fro
 */
export const simplerBody = (
  request: ChatRequest,
  first: BodySettings,
  body: BodySettings,
  { status, body: said }: Incoming,
): BodySettings | null => {
  if (status !== 400 && status !== 422 && status !== 501) return null
  const [a, b] = MAX_TOKENS_FIELDS
  // A server that knows only one of the two names the other as the way out; "max_tokens is too large" is about the value.
  if (request.maxTokens !== undefined && body.maxTokensField === first.maxTokensField)
    if (said.includes(a) && said.includes(b))
      return { ...body, maxTokensField: body.maxTokensField === a ? b : a }
  // What the user wrote into `extraBody` is sent as it is: a setting of that name is refused for them to see.
  const field = refusedField(requestBody(request, { ...body, extraBody: {} }), said)
  if (field !== null && !(field in body.extraBody)) return { ...body, leftOut: [...body.leftOut, field] }
  const structuredOutput = request.answerSchema ? LADDER[body.structuredOutput] : null
  return structuredOutput && ABOUT_STRUCTURE.test(said) ? { ...body, structuredOutput } : null
}

/** What is known of a server, with what a call has found out since; calls side by side find out different things. */
export const rememberedBody = (known: BodySettings, found: BodySettings): BodySettings => ({
  ...known,
  maxTokensField: found.maxTokensField,
  structuredOutput:
    STRUCTURED_OUTPUTS[
      Math.max(
        STRUCTURED_OUTPUTS.indexOf(known.structuredOutput),
        STRUCTURED_OUTPUTS.indexOf(found.structuredOutput),
      )
    ],
  leftOut: [...new Set([...known.leftOut, ...found.leftOut])],
})
