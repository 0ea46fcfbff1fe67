/** @file What a dialect of inference servers has to say: requests for a group of samples, for scores, for an adapter, and their answers. */

import type { JsonFields } from '../../chat/response.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { fieldsOf, type ServerRequest } from './connection.ts'
import type { DialectName } from './dialect-names.ts'
import { malformed, ServedError } from './errors.ts'

/** Samples of one prompt. */
export interface GroupRequest {
  /** Token ids; text only where whoever asks has no tokenizer. */
  prompt: TokenIds | string
  samples: number
  maxTokens: number
  temperature: number
  /** 0: all. */
  topK: number
  topP: number
  /** Absent: those that the server knows. Empty: none. */
  stopTokens?: readonly number[]
  stopStrings: readonly string[]
  /** Of the group's first sample; null: the server's own. */
  seed: number | null
}

/** A sample as it came. */
export interface ServedSample {
  text: string
  /** Null where the server gives none. */
  tokens: Int32Array | null
  /** One a token; null where the server gives none. */
  logprobs: Float32Array | null
  finishReason: 'stop' | 'length'
}

export interface ServedDialect {
  readonly name: DialectName
  /** Requests that have a group of samples between them, in their order. */
  groupRequests(model: string, request: GroupRequest): ServerRequest[]
  /** The samples of one of them. @throws ServedError */
  readSamples(answer: unknown, where: string, request: GroupRequest): ServedSample[]
  /** Log-probs of tokens that are given. */
  scoreRequest(model: string, tokens: TokenIds): ServerRequest
  /** One a token of what was asked for; the first is meaningless, as nothing stands before it. @throws ServedError */
  readScores(answer: unknown, where: string, tokens: TokenIds): Float32Array
  /** What a LoRA that was loaded is asked for by. */
  adapterModel(base: string, name: string): string
  /** Has the server load a LoRA from a folder that it can read. */
  loadAdapter(name: string, folder: string): ServerRequest
  unloadAdapter(name: string): ServerRequest
}

/** Positive by rounding alone. */
const LARGEST_LOGPROB = 0.01

/** A log-prob. @throws ServedError of kind `malformed` for what is no number, or not finite, or above 0 */
export const logprobOf = (value: unknown, where: string, t: number): number => {
  if (typeof value === 'number' && Number.isFinite(value) && value <= LARGEST_LOGPROB) return value
  throw malformed(
    `${where}: log-prob of token ${t}`,
    'a finite number of at most 0',
    value === null ? 'null, as NaN is written' : JSON.stringify(value)?.slice(0, 40),
  )
}

/** Token ids. @throws ServedError of kind `malformed` */
export const readTokenIds = (value: readonly unknown[], where: string): Int32Array => {
  const bad = value.findIndex(id => typeof id !== 'number' || !Number.isInteger(id) || id < 0)
  if (bad >= 0)
    throw malformed(`${where}: token ${bad}`, 'a token id', JSON.stringify(value[bad])?.slice(0, 40))
  return Int32Array.from(value as number[])
}

/** @throws ServedError where a sample was given up rather than ended, and for words of no meaning here */
export const finishOf = (reason: unknown, where: string, message?: unknown): 'stop' | 'length' => {
  if (reason === 'stop' || reason === 'length') return reason
  if (reason === 'abort' || reason === 'error')
    throw new ServedError('server', `${where}: the server gave a sample up (${message ?? reason})`)
  throw malformed(`${where}: finish reason`, '"stop" or "length"', JSON.stringify(reason)?.slice(0, 40))
}

/** @throws ServedError unless one log-prob came for each token */
export const assertPaired = (
  where: string,
  { tokens, logprobs }: Pick<ServedSample, 'tokens' | 'logprobs'>,
): void => {
  if (tokens && logprobs && tokens.length !== logprobs.length)
    throw malformed(where, `${tokens.length} log-probs, one a token`, String(logprobs.length))
}

/** The objects of a list. @throws ServedError of kind `malformed` */
export const objectsOf = (value: unknown, where: string, what: string): JsonFields[] => {
  if (!Array.isArray(value)) throw malformed(where, what, value === undefined ? 'nothing' : typeof value)
  return value.map(each => fieldsOf(each, where, what))
}
