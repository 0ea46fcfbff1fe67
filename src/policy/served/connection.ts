/** @file One inference server: so many requests at a time, repeated while waiting can help, answers as JSON. */

import type { Dispatcher } from 'undici'
import { Cancellation } from '../../chat/cancellation.ts'
import { type Clock, systemClock } from '../../chat/clock.ts'
import { endpointUrl, requestHeaders } from '../../chat/connection.ts'
import { readKey } from '../../chat/credentials.ts'
import { exchange, type Incoming } from '../../chat/exchange.ts'
import { bodyExcerpt, isFields, type JsonFields, parseBody, statusError } from '../../chat/response.ts'
import { JudgeError } from '../../util/errors.ts'
import { undici } from '../../util/undici.ts'
import { malformed, ServedError, servedError } from './errors.ts'
import type { ServedSettings } from './settings.ts'

export interface ServedRuntime {
  clock?: Clock
  env?: Readonly<Record<string, string | undefined>>
  /** Uniform in [0, 1), for the jitter of repetitions: it decides when, never what. */
  random?: () => number
}

export interface ServerRequest {
  /** `completions` below the address, `/generate` beside its `v1`. */
  path: string
  method?: 'GET' | 'POST'
  body?: unknown
}

/** Longest wait before a repetition, and longest time that a server is left alone because it asks for it. */
const LONGEST_WAIT_MS = 30_000
/** An answer of another shape may be cut short by a proxy; one that comes so again and again is what the server says. */
const MALFORMED_ATTEMPTS = 3

const badNumber = /[:,[]\s*(NaN|-?Infinity)\b/

export class ServerConnection {
  /** For messages: neither key nor path. */
  readonly origin: string
  readonly #base: URL
  readonly #settings: ServedSettings
  readonly #headers: Record<string, string>
  readonly #key: string | undefined
  readonly #dispatcher: Dispatcher
  readonly #clock: Clock
  readonly #random: () => number
  readonly #running = new Set<Cancellation>()
  readonly #waiting: (() => void)[] = []
  #free: number
  #closed = false
  /** Requests sent, repetitions included. */
  sent = 0

  /** @throws ConfigError for an address that is none, and for a key that is not in the environment */
  constructor(settings: ServedSettings, { clock, env, random }: ServedRuntime = {}) {
    this.#settings = settings
    this.#base = endpointUrl(settings.url, '', 'url')
    this.#base.pathname = this.#base.pathname.replace(/(\/chat)?\/completions$/, '')
    this.origin = this.#base.origin
    this.#key = readKey(settings, env ?? process.env)
    this.#headers = requestHeaders({ headers: settings.headers, apiKeyHeader: 'authorization' }, this.#key)
    this.#dispatcher = new (undici().Pool)(this.origin, { connections: settings.concurrency, pipelining: 1 })
    this.#clock = clock ?? systemClock
    this.#random = random ?? Math.random
    this.#free = settings.concurrency
  }

  /**
   * The answer's object or list, read by `read`, which may throw `ServedError` of kind `malformed`.
   * @throws ServedError
   */
  async ask<T>(request: ServerRequest, read: (answer: unknown, where: string) => T): Promise<T> {
    await this.#slot()
    const cancellation = new Cancellation()
    this.#running.add(cancellation)
    try {
      return await this.#persist(request, read, cancellation)
    } finally {
      this.#running.delete(cancellation)
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }

  async #slot(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
  }

  async #persist<T>(
    request: ServerRequest,
    read: (answer: unknown, where: string) => T,
    cancellation: Cancellation,
  ): Promise<T> {
    const { patienceMs, backoffMs } = this.#settings
    let firstFailureMs: number | null = null
    for (let attempt = 1; ; attempt++) {
      if (this.#closed) throw closedError()
      try {
        return read(await this.#once(request, cancellation), this.#where(request))
      } catch (thrown) {
        const { error, retryAfterMs } = troubleOf(thrown)
        if (error.kind === 'malformed' && attempt >= MALFORMED_ATTEMPTS) throw error
        if (!PASSING.has(error.kind)) throw error
        const nowMs = this.#clock.now()
        firstFailureMs ??= nowMs
        const doubled = Math.min(LONGEST_WAIT_MS, backoffMs * 2 ** (attempt - 1))
        const waitMs = Math.min(LONGEST_WAIT_MS, retryAfterMs ?? (doubled * (1 + this.#random())) / 2)
        if (nowMs + waitMs - firstFailureMs > patienceMs) throw counted(error, attempt)
        await this.#pause(waitMs, cancellation)
      }
    }
  }

  #where({ path }: ServerRequest): string {
    return `${this.origin} ${path}`
  }

  async #once(request: ServerRequest, cancellation: Cancellation): Promise<unknown> {
    const { attemptTimeoutMs: timeoutMs, maxResponseBytes: maxBytes } = this.#settings
    const { path, method = 'POST', body } = request
    const base = this.#base.pathname
    const full = path.startsWith('/') ? base.replace(/\/v1$/, '') + path : `${base}/${path}`
    this.sent++
    const incoming = await exchange(
      this.#dispatcher,
      {
        origin: this.origin,
        path: full,
        method,
        headers: this.#headers,
        body: JSON.stringify(body ?? {}),
        timeoutMs,
        maxBytes,
        cancellation,
      },
      this.#clock,
    )
    return this.#json(request, incoming)
  }

  #json(request: ServerRequest, incoming: Incoming): unknown {
    const where = this.#where(request)
    const { status, body } = incoming
    if (status < 200 || status >= 300) throw statusError(where, incoming, this.#clock.date(), this.#key)
    const answer = parseBody(body)
    if (answer !== undefined) return answer
    const bad = badNumber.exec(body.slice(0, 1e6))?.[1]
    if (bad) throw malformed(where, 'finite numbers', `${bad} in its answer: the model itself may be broken`)
    // Some management endpoints answer in a plain sentence.
    if (request.path.startsWith('/v1/')) return body
    throw malformed(where, 'JSON', body === '' ? 'an empty body' : bodyExcerpt(body, this.#key).slice(0, 80))
  }

  #pause(waitMs: number, cancellation: Cancellation): Promise<void> {
    return new Promise(resolve => {
      const stop = this.#clock.after(waitMs, () => done())
      const done = () => {
        stop()
        cancellation.listener = null
        resolve()
      }
      if (cancellation.reason !== null) done()
      else cancellation.listener = done
    })
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#closed = true
    const reason = new JudgeError('cancelled', 'the connection to the inference server was closed')
    for (const cancellation of this.#running) cancellation.cancel(reason)
    await this.#dispatcher.destroy(reason)
  }
}

const PASSING: ReadonlySet<ServedError['kind']> = new Set([
  'unreachable',
  'timeout',
  'busy',
  'server',
  'malformed',
])

const closedError = () => new ServedError('closed', 'the connection to the inference server was closed')

/** @throws what is no failure of the server's */
const troubleOf = (thrown: unknown): { error: ServedError; retryAfterMs?: number } => {
  if (thrown instanceof ServedError) return { error: thrown }
  if (thrown instanceof JudgeError) return { error: servedError(thrown), retryAfterMs: thrown.retryAfterMs }
  throw thrown
}

const counted = (error: ServedError, attempts: number): ServedError => {
  if (attempts === 1) return error
  const { kind, status, hint, message } = error
  const said = hint === undefined ? message : message.slice(0, -`; ${hint}`.length)
  return new ServedError(kind, `${said} (${attempts} attempts)`, { hint, status, cause: error })
}

/** The fields of an answer. @throws ServedError of kind `malformed` for anything else */
export const fieldsOf = (value: unknown, where: string, what: string): JsonFields => {
  if (isFields(value) && !Array.isArray(value)) return value
  const got = Array.isArray(value) ? 'a list' : value === undefined ? 'nothing' : typeof value
  throw malformed(where, what, got)
}
