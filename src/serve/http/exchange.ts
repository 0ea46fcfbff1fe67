/** @file What the HTTP front hands to a service, and what it gets back: bytes in, bytes out. */

/** A request that was read whole. */
export interface FrontRequest {
  method: string
  /** Path with its query. */
  url: string
  headers: Readonly<Record<string, string>>
  body: Uint8Array<ArrayBuffer>
  /** Aborted when the client is gone before its answer is out. */
  signal: AbortSignal
}

export interface FrontAnswer {
  status: number
  headers: Readonly<Record<string, string>>
  /** A stream is sent as it comes. */
  body: string | Uint8Array | ReadableStream<Uint8Array>
}

/** Answers a request; what it throws becomes a 500. */
export type Handler = (request: FrontRequest) => Promise<FrontAnswer>

/** Why the front itself refuses a request. */
type RefusalKind = 'too_large' | 'timeout' | 'overloaded' | 'malformed' | 'foreign' | 'internal'

export interface Refusal {
  kind: RefusalKind
  status: 400 | 403 | 408 | 413 | 421 | 429 | 431 | 500 | 503
  message: string
  /** For `retry-after`, seconds. */
  retryAfterS?: number
  /** For the metric: what was at its limit. */
  reason: string
}

/** A JSON answer. */
export const jsonAnswer = (
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): FrontAnswer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
})

/** What an application built on `Request` and `Response` is given beside the request. */
export interface FrontBindings {
  /** The whole body; `Request` has none then. */
  body: Uint8Array
  signal: AbortSignal
}

interface FetchApp {
  fetch(request: Request, bindings: FrontBindings): Response | Promise<Response>
}

/** What `Request` refuses, and no application has. */
const NO_METHODS: ReadonlySet<string> = new Set(['TRACE', 'TRACK', 'CONNECT'])

/**
 * Path and query of a request's target, which a client may write with scheme, host and password (RFC 9112 3.2.2): nobody asks
 * for those, they need not make a URL, and a log must not quote them.
 */
const pathOf = (target: string): string =>
  target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/')

/** Types of answers that are sent as they come. */
const STREAMED = ['text/event-stream', 'application/x-tar', 'application/octet-stream']

/** An application that speaks `Request` and `Response` as a handler. The body is handed over beside the request, uncopied. */
export const fetchHandler = (app: FetchApp): Handler => {
  return async ({ method, url, headers, body, signal }) => {
    if (NO_METHODS.has(method.toUpperCase()))
      return jsonAnswer(
        { error: { type: 'invalid_request', message: `${method}: no such method here` } },
        405,
      )
    const request = new Request(new URL(`http://localhost${pathOf(url)}`), {
      method,
      headers: { ...headers },
    })
    const response = await app.fetch(request, { body, signal })
    const type = response.headers.get('content-type') ?? ''
    const isStream = STREAMED.some(streamed => type.startsWith(streamed))
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: isStream && response.body !== null ? response.body : new Uint8Array(await response.arrayBuffer()),
    }
  }
}
