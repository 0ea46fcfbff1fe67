/** @file A model of embeddings behind any OpenAI-compatible `/v1/embeddings`: batches, limits, retries, ledger. */

import type { z } from 'zod'
import { JudgeError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { finalError, longestPauseMs } from './attempts.ts'
import { BREAKER_DEFAULTS } from './breaker.ts'
import { Cancellation } from './cancellation.ts'
import type { ChatUsage } from './chat-model.ts'
import type { Clock } from './clock.ts'
import { EndpointConnection, endpointUrl, type OpenAiRuntime, processWarning } from './connection.ts'
import { type EmbeddingOptions, embeddingSchema } from './embedding-config.ts'
import { Endpoint, type EndpointCall, type EndpointStats } from './endpoint.ts'
import { TOKENS_PER_CHARACTER } from './estimate.ts'
import {
  bodyExcerpt,
  embeddedError,
  isFields,
  type JsonFields,
  parseBody,
  statusError,
  usageOf,
} from './response.ts'

export interface EmbeddingAnswer {
  vectors: Float32Array[]
  usage: ChatUsage
}

const malformed = (where: string, what: string): JudgeError =>
  new JudgeError('malformed', `${where}: expected embeddings, got ${what}`, {
    hint: 'check that the URL and the model are those of embeddings',
  })

const numbersOf = (embedding: unknown): Float32Array | null => {
  if (Array.isArray(embedding))
    return embedding.every(x => typeof x === 'number') ? Float32Array.from(embedding) : null
  // Some servers send base64 of float32, little-endian, whatever was asked for.
  if (typeof embedding !== 'string') return null
  const bytes = Buffer.from(embedding, 'base64')
  if (bytes.length % 4 !== 0 || bytes.toString('base64') !== embedding) return null
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i))
}

const vectorOf = (row: JsonFields, place: string, dims: number | null): Float32Array => {
  const vector = numbersOf(row.embedding)
  if (vector === null || vector.length === 0) throw malformed(place, 'a vector that is no list of numbers')
  if (dims !== null && vector.length !== dims)
    throw new JudgeError(
      'malformed',
      `${place}: expected a vector of ${dims} numbers, got ${vector.length}`,
      {
        hint: 'check dims, and that all requests reach the same model',
        retryable: false,
      },
    )
  if (!vector.every(Number.isFinite)) throw malformed(place, 'a vector with a number that is not finite')
  if (vector.every(x => x === 0)) throw malformed(place, 'a vector of zeros')
  return vector
}

/**
 * Reads the body of a 2xx answer; rows are put in order by their `index`.
 * @throws JudgeError `malformed` unless there is one vector for each text, finite, not zero, all of one length
 */
const embeddingAnswer = (
  where: string,
  body: string,
  { count, dims }: { count: number; dims: number | null },
  secret?: string,
): EmbeddingAnswer => {
  const root = parseBody(body)
  if (!isFields(root))
    throw malformed(where, body === '' ? 'an empty body' : bodyExcerpt(body, secret).slice(0, 80))
  if (!Array.isArray(root.data)) {
    if (root.error) throw embeddedError(where, root.error, secret)
    throw malformed(where, 'JSON without data')
  }
  const rows = root.data
  if (rows.length !== count) throw malformed(where, `${rows.length} vectors for ${count} texts`)
  const vectors = new Array<Float32Array | undefined>(count).fill(undefined)
  for (const [i, row] of rows.entries()) {
    if (!isFields(row)) throw malformed(where, `no object in data[${i}]`)
    const { index = i } = row
    if (typeof index !== 'number' || !(index in vectors) || vectors[index] !== undefined)
      throw malformed(where, `index ${JSON.stringify(index)?.slice(0, 40)} in data[${i}]`)
    const expected = dims ?? vectors.find(vector => vector !== undefined)?.length ?? null
    vectors[index] = vectorOf(row, `${where}: data[${i}]`, expected)
  }
  // An answer is all prompt: what a server leaves out of completion tokens is none.
  const usage = usageOf({ ...root, usage: { completion_tokens: 0, ...(root.usage as object) } })
  return { vectors: vectors as Float32Array[], usage }
}

type Settings = z.output<typeof embeddingSchema>

export interface EmbeddingRuntime extends OpenAiRuntime {
  /** Uniform in [0, 1), for the jitter of retries: it decides when, never what. */
  random?: () => number
}

/** A text of at most so many characters, without half of one at its end. */
const cut = (text: string, most: number): string => {
  if (text.length <= most) return text
  return text.slice(0, /[\ud800-\udbff]/.test(text[most - 1]) ? most - 1 : most)
}

/** Batches go out in the order in which they were asked for, as many at a time as the limits allow. */
export class EmbeddingModel {
  readonly settings: Settings
  readonly #server: EndpointConnection
  readonly #clock: Clock
  readonly #random: () => number
  readonly #endpoint: Endpoint<null>
  readonly #running = new Set<Cancellation>()
  /** The batch that is next in line waits here for its turn. */
  #line: Promise<unknown> = Promise.resolve()
  #wake: () => void = () => {}
  #dims: number | null
  #closed = false

  /** @throws ConfigError for settings that cannot be used, and for a key that is not in the environment */
  constructor(options: EmbeddingOptions, runtime: EmbeddingRuntime = {}) {
    const settings = parseWith(embeddingSchema, options, 'embedding endpoint')
    this.settings = settings
    this.#dims = settings.dims ?? null
    const url = endpointUrl(settings.url, '/embeddings', 'embedding url')
    this.#server = new EndpointConnection(url, { ...settings, connections: settings.concurrency }, runtime)
    this.#clock = this.#server.clock
    this.#random = runtime.random ?? Math.random
    const { name = settings.url } = settings
    const { onWarning = processWarning } = runtime
    const limits = { ...settings, name, weight: 1, breaker: BREAKER_DEFAULTS, onWarning }
    this.#endpoint = new Endpoint(null, limits, this.#clock.now())
  }

  /** Length of a vector; null before the first answer where the settings do not say. */
  get dims(): number | null {
    return this.#dims
  }

  /**
   * One vector a text, in their order, as the server gives them.
   * @throws JudgeError when a batch has no answer within its retries and its deadline, when an answer is not one vector of
   * finite numbers a text, all of one length, and when this is closed
   */
  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    const { batch, prefix, maxTextCharacters } = this.settings
    const inputs = texts.map(text => prefix + cut(text, maxTextCharacters))
    const batches = Array.from({ length: Math.ceil(inputs.length / batch) }, (_, i) =>
      this.#batch(inputs.slice(i * batch, (i + 1) * batch)),
    )
    // All are waited for, so that none is left running when one of them fails.
    const settled = await Promise.allSettled(batches)
    return settled.flatMap(result => {
      if (result.status === 'rejected') throw result.reason
      return result.value
    })
  }

  /** One batch with all its attempts. */
  async #batch(inputs: readonly string[]): Promise<Float32Array[]> {
    const cancellation = new Cancellation()
    if (this.#closed) throw closedError()
    this.#running.add(cancellation)
    const { deadlineMs, retries } = this.settings
    const stopDeadline = this.#clock.after(deadlineMs, () =>
      this.#cancel(cancellation, deadlineError(deadlineMs)),
    )
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#attempt(inputs, cancellation)
        } catch (error) {
          const again = error instanceof JudgeError && error.retryable && attempt <= retries
          if (!again || cancellation.reason !== null) throw cancellation.reason ?? finalError(error, attempt)
          await this.#pause(this.#random() * longestPauseMs(this.settings, attempt, error), cancellation)
        }
      }
    } finally {
      stopDeadline()
      this.#running.delete(cancellation)
    }
  }

  async #attempt(inputs: readonly string[], cancellation: Cancellation): Promise<Float32Array[]> {
    const characters = inputs.reduce((sum, text) => sum + text.length, 0)
    const call = await this.#turn(Math.ceil(characters * TOKENS_PER_CHARACTER), cancellation)
    try {
      const answer = await this.#ask(inputs, cancellation)
      this.#endpoint.answered(call, answer, this.#clock.now())
      return answer.vectors
    } catch (error) {
      if (cancellation.reason === null) throw this.#endpoint.failed(call, error, this.#clock.now())
      this.#endpoint.abandoned(call)
      throw cancellation.reason
    } finally {
      this.#wake()
    }
  }

  async #ask(inputs: readonly string[], cancellation: Cancellation): Promise<EmbeddingAnswer> {
    const { model, extraBody, sendDims, dims, attemptTimeoutMs, maxResponseBytes } = this.settings
    const { origin, key, clock } = this.#server
    const body = { model, input: inputs, encoding_format: 'float', ...(sendDims && { dimensions: dims }) }
    const incoming = await this.#server.post({
      body: JSON.stringify({ ...body, ...extraBody }),
      ...{ timeoutMs: attemptTimeoutMs, maxBytes: maxResponseBytes, cancellation },
    })
    if (incoming.status < 200 || incoming.status >= 300)
      throw statusError(origin, incoming, clock.date(), key)
    const answer = embeddingAnswer(origin, incoming.body, { count: inputs.length, dims: this.#dims }, key)
    this.#dims ??= answer.vectors[0].length
    return answer
  }

  /** Waits for all that asked before, and then for the limits. */
  #turn(tokens: number, cancellation: Cancellation): Promise<EndpointCall> {
    const turn = this.#line.then(async () => {
      for (;;) {
        if (cancellation.reason !== null) throw cancellation.reason
        const nowMs = this.#clock.now()
        const waitMs = this.#endpoint.waitMs(tokens, nowMs)
        if (waitMs <= 0) return this.#endpoint.begin(tokens, nowMs)
        if (this.#endpoint.fatal) throw this.#endpoint.fatal
        await this.#pause(waitMs, cancellation, true)
      }
    })
    this.#line = turn.catch(() => {})
    return turn
  }

  /** Waits so long, or until cancelled; where it waits for its turn, also until a call ends. */
  #pause(waitMs: number, cancellation: Cancellation, forTurn = false): Promise<void> {
    return new Promise(resolve => {
      const stop = Number.isFinite(waitMs) ? this.#clock.after(Math.ceil(waitMs), () => done()) : () => {}
      const done = () => {
        stop()
        cancellation.listener = null
        resolve()
      }
      if (cancellation.reason !== null) done()
      cancellation.listener = done
      if (forTurn) this.#wake = done
    })
  }

  #cancel(cancellation: Cancellation, reason: JudgeError): void {
    cancellation.cancel(reason)
    this.#wake()
  }

  /** Calls, tokens, cost, failures by kind. */
  stats(): EndpointStats {
    return this.#endpoint.stats(this.#clock.now())
  }

  /** Cancels what is in progress and ends the connections. */
  async close(): Promise<void> {
    this.#closed = true
    for (const cancellation of this.#running) this.#cancel(cancellation, closedError())
    await this.#server.close(closedError())
  }
}

const closedError = () => new JudgeError('cancelled', 'the model of embeddings was closed')

const deadlineError = (deadlineMs: number) =>
  new JudgeError('timeout', `no embeddings within the deadline of ${deadlineMs} ms`, {
    retryable: false,
    hint: 'allow more time (deadlineMs) or smaller batches (batch)',
  })

/** A model of embeddings behind an OpenAI-compatible endpoint. @throws ConfigError (see EmbeddingModel) */
export const embeddingModel = (options: EmbeddingOptions, runtime?: EmbeddingRuntime): EmbeddingModel =>
  new EmbeddingModel(options, runtime)
