/** @file What a server refused of a request, and the next simpler way to ask. */

import type { ChatRequest } from './chat-model.ts'
import type { Incoming } from './exchange.ts'
import {
  type BodySettings,
  MAX_TOKENS_FIELDS,
  requestBody,
  SAMPLING_FIELDS,
  type SamplingField,
  STRUCTURED_OUTPUTS,
  type StructuredOutput,
} from './request.ts'

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
