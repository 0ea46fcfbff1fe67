/** @file One server: requests with its key, repeated for as long as they may and make sense; every answer read whole. */

import { randomUUID } from 'node:crypto'
import type { Pool } from 'undici'
import { type Clock, systemClock } from '../chat/clock.ts'
import { retryAfterMs } from '../chat/retry-after.ts'
import { DataError } from '../util/errors.ts'
import { parseJson } from '../util/json.ts'
import { packageVersion } from '../util/package.ts'
import { undici } from '../util/undici.ts'
import { statusFailure, TinkerError } from './errors.ts'
import { API_PATH, PROTOBUF } from './messages.ts'

export interface ConnectionOptions {
  /** `http://host:8000`, with or without `/api/v1`. */
  url: string
  /** Sent as `x-api-key`; stands in no message. */
  apiKey?: string
  /** How long a server that cannot be reached, is busy or fails is waited for. Default 5 minutes. */
  patienceMs?: number
  /** For one exchange; a server may hold a request for a result. Default 60 s. */
  attemptTimeoutMs?: number
  /** First wait before a repetition; it doubles up to 30 s. Default 500. */
  backoffMs?: number
  /** Requests at a time; a request more waits. Default 64. */
  connections?: number
  clock?: Clock
}

export interface TinkerResponse {
  status: number
  contentType: string
  bytes: Uint8Array
  /** Where a redirection points. */
  location: string | null
}

export interface CallOptions {
  method?: 'GET' | 'POST' | 'DELETE'
  accept?: string
  headers?: Readonly<Record<string, string>>
  /** Whether a server that did carry it out may be asked again. Default true. */
  repeatable?: boolean
  /** Statuses that come back as answers rather than being waited on or thrown. */
  expected?: readonly number[]
  /** What messages call the path: a whole address may hold a signature. */
  name?: string
}

/** Waits that help: the server is there and asks for them, or could not be asked. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504, 529])
/** Of these the server has not carried out what was asked. */
const NOT_TAKEN = new Set([425, 429, 503, 529])
/** No connection was made, so nothing was asked. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'EHOSTUNREACH',
])
const MAX_BACKOFF_MS = 30_000
/** Longest excerpt of what a server said. */
const MAX_SAID = 400

/** The answer's JSON. @throws TinkerError */
export const jsonOf = ({ bytes }: TinkerResponse, place: string): unknown => {
  try {
    return parseJson(new TextDecoder().decode(bytes))
  } catch (error) {
    if (!(error instanceof DataError)) throw error
    throw new TinkerError('malformed', `${place}: expected JSON, got something else`, {
      hint: 'check that the address is that of a Tinker server, and that no proxy stands in between',
      cause: error,
    })
  }
}

/** Where requests go. @throws TinkerError for what is no address of a web server */
const baseOf = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new TinkerError(
      'refused',
      `policy.url: expected an address such as http://127.0.0.1:8000, got ${text}`,
      {
        hint: 'write it without user and password; the key belongs into the variable that apiKeyEnv names',
      },
    )
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith(API_PATH) ? path : `${path}${API_PATH}`
  return url
}

interface Trouble {
  error: TinkerError
  waitMs?: number
  /** The server has not carried out what was asked. */
  notTaken: boolean
}

export class Connection {
  readonly #base: URL
  readonly #pool: Pool
  readonly #options: Required<Omit<ConnectionOptions, 'url' | 'apiKey'>>
  readonly #key: string | undefined
  #closed = false
  /** Requests sent, repetitions included. */
  sent = 0

  /** @throws TinkerError for an address that is none */
  constructor({ url, apiKey, ...options }: ConnectionOptions) {
    this.#base = baseOf(url)
    this.#key = apiKey
    const defaults = { patienceMs: 300_000, attemptTimeoutMs: 60_000, backoffMs: 500, connections: 64 }
    this.#options = { ...defaults, clock: systemClock, ...options }
    this.#pool = new (undici().Pool)(this.#base.origin, {
      connections: this.#options.connections,
      pipelining: 1,
    })
  }

  /** For messages: no key, no path. */
  get origin(): string {
    return this.#base.origin
  }

  /** What was said, short and without the key. */
  said({ bytes, contentType }: TinkerResponse): string {
    if (contentType.includes('html')) return '(a web page)'
    return this.hide(detailOf(new TextDecoder().decode(bytes.subarray(0, 8 * MAX_SAID)))).slice(0, MAX_SAID)
  }

  /** A text of the server without the key, which it may repeat. */
  hide(text: string): string {
    return this.#key ? text.replaceAll(this.#key, '***') : text
  }

  async #once(path: string, body: unknown, options: CallOptions, id: string): Promise<TinkerResponse> {
    const isBytes = body instanceof Uint8Array
    const method = options.method ?? 'POST'
    const timeoutMs = this.#options.attemptTimeoutMs
    const foreign = this.#foreign(path)
    this.sent++
    const exchange = {
      method,
      headers: {
        accept: options.accept ?? 'application/json',
        'user-agent': `gradus/${packageVersion()}`,
        ...(body !== undefined && { 'content-type': isBytes ? PROTOBUF : 'application/json' }),
        ...(method !== 'GET' && { 'x-idempotency-key': id }),
        ...(this.#key !== undefined && !foreign && { 'x-api-key': this.#key }),
        ...options.headers,
      },
      body: isBytes ? Buffer.from(body) : body === undefined ? undefined : JSON.stringify(body),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    }
    const response = foreign
      ? await undici().request(foreign, exchange)
      : await this.#pool.request({ ...exchange, path: this.#pathOf(path) })
    const bytes = new Uint8Array(await response.body.arrayBuffer())
    const { location } = response.headers
    const answer = {
      status: response.statusCode,
      contentType: String(response.headers['content-type'] ?? ''),
      bytes,
      location: typeof location === 'string' ? location : null,
    }
    if (answer.status < 300 || options.expected?.includes(answer.status)) return answer
    throw this.#troubleOf(options.name ?? path, answer, response.headers)
  }

  /** The address of a path that lies on another server; null for one of this server's. */
  #foreign(path: string): URL | null {
    const address = URL.canParse(path) ? new URL(path) : null
    return address === null || address.origin === this.#base.origin ? null : address
  }

  #pathOf(path: string): string {
    if (!URL.canParse(path)) return `${this.#base.pathname}/${path}`
    const { pathname, search } = new URL(path)
    return `${pathname}${search}`
  }

  #troubleOf(path: string, answer: TinkerResponse, headers: Parameters<typeof retryAfterMs>[0]): Trouble {
    const error = statusFailure(`${this.origin} ${path}`, answer.status, this.said(answer))
    const retry = headers['x-should-retry']
    const passes = retry === 'true' || (retry !== 'false' && PASSING.has(answer.status))
    if (!passes) throw error
    const kind = answer.status === 429 || answer.status === 503 ? 'busy' : 'failed'
    return {
      error: new TinkerError(kind, error.message.split('; ')[0], {
        status: answer.status,
        hint: `the server stays so: look at its log, and go on later with --resume`,
      }),
      waitMs: retryAfterMs(headers, this.#options.clock.date()),
      notTaken: NOT_TAKEN.has(answer.status),
    }
  }

  #networkTrouble(path: string, cause: Error): Trouble {
    const code = (cause as NodeJS.ErrnoException).code ?? cause.name
    return {
      error: new TinkerError('unreachable', `${this.origin} ${path}: the connection failed (${code})`, {
        hint: 'check that the server runs and that policy.url is right; then go on with --resume',
        cause,
      }),
      notTaken: NOT_CONNECTED.has(code),
    }
  }

  /**
   * Asks until there is an answer, or waiting makes no sense any more.
   * @param path below the server's address; or a whole address, to which the key is sent on this server alone
   * @throws TinkerError; of kind `unsure` where only the answer to what may not be repeated was lost
   */
  async call(path: string, body?: unknown, options: CallOptions = {}): Promise<TinkerResponse> {
    const { clock, patienceMs, backoffMs } = this.#options
    const id = randomUUID()
    const startMs = clock.now()
    for (let attempt = 0; ; attempt++) {
      let trouble: Trouble
      try {
        return await this.#once(path, body, options, id)
      } catch (thrown) {
        if (thrown instanceof TinkerError) throw thrown
        trouble = isTrouble(thrown) ? thrown : this.#networkTrouble(options.name ?? path, thrown as Error)
      }
      if (this.#closed) throw trouble.error
      if (options.repeatable === false && !trouble.notTaken) throw unsure(path, trouble.error)
      const waitMs = Math.min(trouble.waitMs ?? backoffMs * 2 ** attempt, MAX_BACKOFF_MS)
      if (clock.now() + waitMs - startMs > patienceMs) throw trouble.error
      await new Promise<void>(wake => clock.after(waitMs, wake))
    }
  }

  /** `call`, and the JSON of its answer. */
  async json(path: string, body?: unknown, options?: CallOptions): Promise<unknown> {
    return jsonOf(await this.call(path, body, options), `${this.origin} ${path}`)
  }

  wait(ms: number): Promise<void> {
    return new Promise(wake => this.#options.clock.after(ms, wake))
  }

  get backoffMs(): number {
    return this.#options.backoffMs
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#pool.destroy()
  }
}

const isTrouble = (thrown: unknown): thrown is Trouble =>
  typeof thrown === 'object' && thrown !== null && 'notTaken' in thrown

const unsure = (path: string, cause: TinkerError): TinkerError =>
  new TinkerError(
    'unsure',
    `${cause.message.split('; ')[0]}; nobody can tell whether the server has carried out this ${path}, and it would do so twice`,
    { hint: 'go on from the last checkpoint with `gradus train ... --resume`', cause },
  )

/** What a server means by an error's body: `{"detail": ...}` and the like. */
const detailOf = (text: string): string => {
  try {
    const body = JSON.parse(text) as Record<string, unknown>
    const detail = body.detail ?? body.error ?? body.message
    if (detail === undefined) return text
    return typeof detail === 'string' ? detail : JSON.stringify(detail)
  } catch {
    return text.trim()
  }
}
