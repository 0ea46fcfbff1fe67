/** @file One HTTP exchange: bytes out, status and body back, within a time and a size. */

import type { Dispatcher } from 'undici'
import { JudgeError } from '../util/errors.ts'
import type { Cancellation } from './cancellation.ts'
import type { Clock } from './clock.ts'

export interface Outgoing {
  origin: string
  path: string
  /** Default POST. */
  method?: 'GET' | 'POST'
  headers: Record<string, string>
  /** Empty with GET. */
  body: string
  /** From the moment of asking, waiting for a connection included. */
  timeoutMs: number
  /** Largest body that is read. */
  maxBytes: number
  cancellation: Cancellation
}

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface Incoming {
  status: number
  headers: ResponseHeaders
  body: string
}

/** Cause of a certificate or TLS failure: no retry mends it. */
const TLS_TROUBLE = /CERT|TLS|SSL|SELF_SIGNED/

const networkError = (origin: string, cause: Error): JudgeError => {
  if (cause instanceof JudgeError) return cause
  const code = (cause as NodeJS.ErrnoException).code ?? cause.name
  if (TLS_TROUBLE.test(code))
    return new JudgeError('config', `${origin}: no secure connection (${code})`, {
      hint: 'check the certificate of the server and the scheme of the URL',
      cause,
    })
  return new JudgeError('unreachable', `${origin}: the connection failed (${code})`, {
    hint: 'check that the server runs and that the URL is right',
    cause,
  })
}

const timeoutError = ({ origin, timeoutMs }: Outgoing): JudgeError =>
  new JudgeError('timeout', `${origin}: no complete answer within ${Math.round(timeoutMs)} ms`, {
    hint: 'allow more time (attemptTimeoutMs) or fewer requests at a time (concurrency)',
  })

const tooLarge = ({ origin, maxBytes }: Outgoing): JudgeError =>
  new JudgeError('malformed', `${origin}: the answer is larger than ${maxBytes} bytes`, {
    hint: 'lower maxTokens, or raise maxResponseBytes',
  })

/** Collects one response. Written against undici's dispatcher, because streams and fetch cost several times as much a call. */
class Collector implements Dispatcher.DispatchHandler {
  readonly promise: Promise<Incoming>
  #resolve!: (incoming: Incoming) => void
  #reject!: (error: JudgeError) => void
  #controller: Dispatcher.DispatchController | null = null
  #failure: JudgeError | null = null
  #done = false
  #status = 0
  #headers: ResponseHeaders = {}
  #chunks: Buffer[] = []
  #bytes = 0
  readonly #stopTimer: () => void
  readonly outgoing: Outgoing

  constructor(outgoing: Outgoing, clock: Clock) {
    this.outgoing = outgoing
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#stopTimer = clock.after(outgoing.timeoutMs, () => this.fail(timeoutError(outgoing)))
    outgoing.cancellation.listener = reason => this.fail(reason)
  }

  /** Ends the exchange; a request that waits for a connection is dropped as soon as it gets one. */
  fail(error: JudgeError): void {
    if (this.#done) return
    this.#failure = error
    this.#finish()
    this.#controller?.abort(error)
    this.#reject(error)
  }

  #finish(): void {
    this.#done = true
    this.#stopTimer()
    this.outgoing.cancellation.listener = null
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#failure) controller.abort(this.#failure)
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.outgoing.maxBytes) this.fail(tooLarge(this.outgoing))
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    if (this.#done) return
    this.#finish()
    const body = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks)
    this.#resolve({ status: this.#status, headers: this.#headers, body: body.toString('utf8') })
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(networkError(this.outgoing.origin, error))
  }
}

/**
 * Sends a request and reads the whole answer, whatever its status.
 * @throws JudgeError of kind `timeout`, `unreachable`, `config` (TLS), `malformed` (too large) or `cancelled`
 */
export const exchange = (dispatcher: Dispatcher, outgoing: Outgoing, clock: Clock): Promise<Incoming> => {
  const { reason } = outgoing.cancellation
  if (reason !== null) return Promise.reject(reason)
  const collector = new Collector(outgoing, clock)
  const { origin, path, method = 'POST', headers, body } = outgoing
  const sent = method === 'GET' ? null : body
  try {
    dispatcher.dispatch(
      { origin, path, method, headers, body: sent, headersTimeout: 0, bodyTimeout: 0 },
      collector,
    )
  } catch (error) {
    collector.fail(networkError(origin, error as Error))
  }
  return collector.promise
}
