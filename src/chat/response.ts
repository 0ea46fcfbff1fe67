/** @file What a chat endpoint sent back, as a ChatResponse or as the error that it is. */

import { JudgeError, type JudgeErrorKind } from '../util/errors.ts'
import { tryJson, wellFormed } from '../util/json.ts'
import type { ChatResponse, ChatUsage, TokenLogprob } from './chat-model.ts'
import type { Incoming } from './exchange.ts'
import { isTooIntricate } from './json-size.ts'
import { retryAfterMs } from './retry-after.ts'

export type JsonFields = Record<string, unknown>

export const isFields = (value: unknown): value is JsonFields => typeof value === 'object' && value !== null
const fields = (value: unknown): JsonFields => (isFields(value) ? value : {})

/** No call uses more tokens; a count above it is none, and would stop an endpoint with a limit of tokens for days. */
const MOST_TOKENS = 1e7

const countOrNull = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 && value <= MOST_TOKENS ? value : null

/** Shorter keys are placeholders that servers without authorisation are given: ordinary words, such as EMPTY. */
const LEAST_KEY_CHARACTERS = 12

/** A server may write the key that it was sent into what it answers, and answers are kept. */
const withoutKey = (text: string, secret: string | undefined): string =>
  secret !== undefined && secret.length >= LEAST_KEY_CHARACTERS ? text.replaceAll(secret, '[key]') : text

/** Of a word of the protocol, in whose place a server may write anything. */
const LONGEST_WORD = 200

/** Characters of a body of which an excerpt is made. */
const EXCERPT_READ = 4000

/** Start of a body for an error message, on one line, with the key taken out should a server echo it. */
export const bodyExcerpt = (body: string, secret: string | undefined): string => {
  // The key goes first: a cut could leave part of it.
  const open = secret ? body.replaceAll(secret, '[key]') : body
  const line = open.slice(0, EXCERPT_READ).replace(/\s+/g, ' ').trim()
  return line.length > 300 ? `${line.slice(0, 297)}...` : line
}

/** A body as JSON; undefined for what is none, or too intricate. */
export const parseBody = (body: string): unknown => (isTooIntricate(body) ? undefined : tryJson(body))

/** The server's own words, from `{error: {message}}`, `{message}`, `{detail}` or whatever page it sent. */
const serverMessage = (body: string): string => {
  const root = fields(parseBody(body))
  const error = root.error
  const found = [isFields(error) ? error.message : error, root.message, root.detail]
  return found.find(text => typeof text === 'string') ?? body
}

const HINTS: Partial<Record<JudgeErrorKind, string>> = {
  auth: 'check that apiKeyEnv names a variable that holds a valid key with credit',
  config: 'check the URL and the model name',
  'bad-request': 'the text may be too long for the model, or a setting is not supported',
}

const kindOfStatus = (status: number, body: string): JudgeErrorKind => {
  if (status === 429) return body.includes('insufficient_quota') ? 'auth' : 'rate-limit'
  if (status === 401 || status === 402 || status === 403) return 'auth'
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) return 'config'
  if (status === 408 || status === 425) return 'timeout'
  if (status === 409) return 'server'
  return status >= 500 ? 'server' : 'bad-request'
}

/** The error that a status other than 2xx stands for. @param secret taken out of the message */
export const statusError = (
  where: string,
  { status, headers, body }: Incoming,
  dateMs: number,
  secret?: string,
): JudgeError => {
  const kind = kindOfStatus(status, body)
  const text = bodyExcerpt(serverMessage(body), secret)
  return new JudgeError(kind, `${where}: HTTP ${status}${text ? `: ${text}` : ''}`, {
    hint: HINTS[kind],
    status,
    retryAfterMs: retryAfterMs(headers, dateMs),
  })
}

const malformed = (where: string, what: string): JudgeError =>
  new JudgeError('malformed', `${where}: expected a chat completion, got ${what}`, {
    hint: 'check that the URL is that of an OpenAI-compatible server',
  })

/** Providers behind a gateway report failures inside a 200. */
export const embeddedError = (where: string, error: unknown, secret?: string): JudgeError => {
  const code = fields(error).code
  const kind = typeof code === 'number' && code >= 400 ? kindOfStatus(code, '') : 'malformed'
  const said = isFields(error) ? (error.message ?? 'no message') : error
  const words = isFields(said) ? 'a failure without words' : String(said)
  return new JudgeError(kind, `${where}: the server reports: ${bodyExcerpt(words, secret)}`, {
    hint: HINTS[kind],
  })
}

const contentText = (content: unknown): string | null => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return null
  return content.map(part => (typeof fields(part).text === 'string' ? fields(part).text : '')).join('')
}

export const usageOf = (root: JsonFields): ChatUsage => {
  const usage = fields(root.usage)
  const details = fields(usage.prompt_tokens_details)
  return {
    promptTokens: countOrNull(usage.prompt_tokens),
    completionTokens: countOrNull(usage.completion_tokens),
    cachedTokens: countOrNull(details.cached_tokens ?? usage.prompt_cache_hit_tokens),
  }
}

const alternatives = (list: unknown, secret: string | undefined): { token: string; logprob: number }[] =>
  Array.isArray(list)
    ? list.map(fields).map(({ token, logprob }) => ({
        // A server may put anything there: an object may not even be written as text.
        token: typeof token === 'string' ? withoutKey(token, secret) : '',
        logprob: typeof logprob === 'number' ? logprob : Number.NaN,
      }))
    : []

const wordOf = (value: unknown, secret: string | undefined): string | null =>
  typeof value === 'string' ? withoutKey(value, secret).slice(0, LONGEST_WORD) : null

const logprobsOf = (choice: JsonFields, secret: string | undefined): TokenLogprob[] | undefined => {
  const content = fields(choice.logprobs).content
  if (!Array.isArray(content)) return undefined
  return alternatives(content, secret).map((each, i) => ({
    ...each,
    top: alternatives(fields(content[i]).top_logprobs, secret),
  }))
}

/**
 * Reads the body of a 2xx answer.
 * @param secret the key that was sent; it stands nowhere in what is returned
 * @throws JudgeError `malformed` where it is no chat completion, `refused` where the provider withheld the answer
 */
export const chatResponse = (where: string, body: string, secret?: string): ChatResponse => {
  const root = parseBody(body)
  if (!isFields(root))
    throw malformed(where, body === '' ? 'an empty body' : bodyExcerpt(body, secret).slice(0, 80))
  const choice = Array.isArray(root.choices) ? root.choices[0] : undefined
  if (!isFields(choice) || !isFields(choice.message)) {
    if (root.error) throw embeddedError(where, root.error, secret)
    throw malformed(where, 'JSON without choices[0].message')
  }
  const text = contentText(choice.message.content)
  const finishReason = wordOf(choice.finish_reason, secret) ?? 'unknown'
  if (!text && (choice.message.refusal || finishReason === 'content_filter'))
    throw new JudgeError('refused', `${where}: the provider withheld the answer (${finishReason})`)
  const logprobs = logprobsOf(choice, secret)
  const model = wordOf(root.model, secret)
  return {
    // A reasoning model that ran out of tokens sends null: an empty text, which is data for the parser.
    text: wellFormed(withoutKey(text ?? '', secret)),
    finishReason,
    usage: usageOf(root),
    ...(logprobs ? { logprobs } : {}),
    ...(model === null ? {} : { model }),
  }
}
