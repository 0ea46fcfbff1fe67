/**
 * @file The HTTP front of a server: takes connections, reads bodies within limits, hands whole requests to a handler, sends
 * answers, and drains without losing what was accepted. It does nothing that takes long, so that it always answers.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { ConfigError } from '../../util/errors.ts'
import { Admission } from './admission.ts'
import { discardBody, readBody, statedLength } from './body.ts'
import { Connections, type HttpConnection } from './connections.ts'
import { endIdle, sleep } from './draining.ts'
import type { FrontAnswer, Handler, Refusal } from './exchange.ts'
import { errorFields, type Unhandled } from './guards.ts'
import type { FrontLimits } from './limits.ts'
import { FrontMetrics } from './metrics.ts'
import { isLoopback, pageRefusal } from './pages.ts'

/** Longer than clients keep idle connections, so that it is not we who cut one off under a request. */
const KEEP_ALIVE_MS = 120_000
/** Refused bodies up to this length are read before the answer, and the connection goes on. */
const SMALL_BODY_BYTES = 1024 ** 2
/** A refused body is read on for so many times the longest that is taken, and at least for so many bytes. */
const DISCARD_TIMES = 8
const DISCARD_BYTES = 64 * 1024 ** 2
/** What is said of a request that the front refused by itself. */
export interface RefusedEntry {
  method: string
  status: number
  error: string
  ms: number
}

export interface FrontLog {
  refused(entry: RefusedEntry): void
  event(event: string, fields?: Readonly<Record<string, unknown>>): void
}

export interface FrontOptions {
  handler: Handler
  limits: FrontLimits
  log: FrontLog | null
  /** An error in the words of the server's protocol. */
  errorBody(refusal: Refusal): unknown
  /** Whether clients must send a key or token; where none is needed, and only this machine is listened to, pages are distinguished by name. */
  hasKey: boolean
  /** Who may send a body; the handler refuses others, without one. */
  isAllowed?(headers: IncomingMessage['headers']): boolean
  /** Paths that are answered whatever else is under way; GET only. */
  watch?: Readonly<Record<string, (front: Front) => Handler>>
}

const flatHeaders = ({ headers }: IncomingMessage): Record<string, string> => {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value
  return flat
}

/** Calls back when an answer is out, or never will be. */
const whenOver = (outgoing: ServerResponse, { onClose }: HttpConnection, then: () => void): void => {
  const over = () => {
    outgoing.off('close', over)
    onClose.delete(over)
    then()
  }
  outgoing.once('close', over)
  onClose.add(over)
}

/**
 * Calls `late` when an answer that is all there is not taken in time. It counts from its turn: on a connection answers go out
 * one after the other.
 */
const untilTaken = (outgoing: ServerResponse, timeoutMs: number, late: () => void): void => {
  if (outgoing.writableFinished || outgoing.destroyed) return
  const begin = () => {
    const timer = setTimeout(late, timeoutMs)
    timer.unref()
    outgoing.once('finish', () => clearTimeout(timer)).once('close', () => clearTimeout(timer))
  }
  if (outgoing.socket === null) outgoing.once('socket', begin)
  else begin()
}

/** Sends a stream as it comes, no faster than the client takes it. @param late called when it takes nothing for `timeoutMs` */
const pump = async (
  stream: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  timeoutMs: number,
  late: () => void,
): Promise<void> => {
  const reader = stream.getReader()
  outgoing.once('close', () => void reader.cancel().catch(() => {}))
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (outgoing.destroyed) return
    if (!outgoing.write(part.value))
      await new Promise<void>(resolve => {
        const timer = setTimeout(late, timeoutMs)
        const go = () => {
          clearTimeout(timer)
          outgoing.off('drain', go).off('close', go)
          resolve()
        }
        outgoing.once('drain', go).once('close', go)
      })
  }
  outgoing.end()
}

const listenError = (error: NodeJS.ErrnoException, host: string, port: number): Error => {
  if (error.code === 'EADDRINUSE')
    return new ConfigError(`port ${port} is taken`, {
      hint: 'choose another with --port; 0 takes a free one',
    })
  return new ConfigError(`cannot listen on ${host}:${port}: ${error.message}`, { cause: error })
}

const INTERNAL: Refusal = {
  kind: 'internal',
  status: 500,
  message: 'the server failed on this request; its log says more',
  reason: 'internal',
}

/** The client left, in the middle of a request perhaps. */
const GONE: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE'])

/** What the HTTP parser could not read, as a refusal. */
const malformed = (error: NodeJS.ErrnoException): Refusal => {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return {
      kind: 'timeout',
      status: 408,
      message:
        'expected a whole request in time (limits.headersMs for its head), got a part of it or nothing',
      reason: 'slow',
    }
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return { kind: 'malformed', status: 431, message: 'the headers are too long', reason: 'headers' }
  return { kind: 'malformed', status: 400, message: 'this is no HTTP request', reason: 'malformed' }
}

/** Of an answer that nobody takes. */
const letGo = async ({ body }: FrontAnswer): Promise<void> => {
  if (body instanceof ReadableStream) await body.cancel()
}

/** Counts and tells of what nobody foresaw, wherever in the process. */
export const tellUnhandled =
  ({ metrics: { unhandled } }: Front, log: Pick<FrontLog, 'event'> | null = null): Unhandled =>
  (kind, error) => {
    unhandled.inc({ kind })
    log?.event(`unhandled-${kind}`, errorFields(error))
  }

export class Front {
  readonly metrics: FrontMetrics
  readonly connections = new Connections()
  readonly admission: Admission
  readonly #options: FrontOptions
  readonly #server: Server
  readonly #watch: ReadonlyMap<string, Handler>
  #isPrivate = true
  #draining = false
  #drained: Promise<number> | null = null

  constructor(options: FrontOptions) {
    const { limits, watch = {} } = options
    this.#options = options
    this.admission = new Admission(limits)
    this.metrics = new FrontMetrics(this.admission, this.connections, () => this.#draining)
    this.#watch = new Map(Object.entries(watch).map(([path, make]) => [path, make(this)]))
    this.#server = this.#createServer(limits)
  }

  /** It is being stopped: what is accepted is answered, new work should go elsewhere. */
  get draining(): boolean {
    return this.#draining
  }

  #createServer({ headersMs, bodyMs, connections }: FrontLimits): Server {
    const server = createServer({
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: headersMs,
      // The second line behind the body's own deadline.
      requestTimeout: headersMs + bodyMs + 5_000,
      connectionsCheckingInterval: Math.min(1_000, headersMs),
    })
    server.maxConnections = connections
    server.on('connection', socket => this.connections.add(socket))
    server.on('drop', () => this.metrics.refused.inc({ reason: 'connections' }))
    server.on('request', (incoming, outgoing) => void this.#serve(incoming, outgoing))
    server.on('checkContinue', (incoming, outgoing) => {
      // Only who will be read is asked to send.
      if ((statedLength(incoming) ?? 0) <= this.#options.limits.bodyBytes) outgoing.writeContinue()
      void this.#serve(incoming, outgoing)
    })
    server.on('clientError', (error, socket) => this.#clientError(error, socket as Socket))
    return server
  }

  /** @throws ConfigError for an address that cannot be listened on */
  async listen(host: string, port: number): Promise<{ url: string; port: number }> {
    const server = this.#server
    this.#isPrivate = !this.#options.hasKey && isLoopback(host)
    const address = await new Promise<AddressInfo>((resolve, reject) => {
      const onError = (error: Error) => reject(listenError(error, host, port))
      server.once('error', onError)
      server.listen({ host, port, backlog: 1024 }, () => {
        server.off('error', onError)
        resolve(server.address() as AddressInfo)
      })
    })
    server.on('error', error => this.#options.log?.event('server-error', errorFields(error)))
    const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address
    return { url: `http://${shown}:${address.port}`, port: address.port }
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const connection = this.connections.of(incoming.socket)
    connection.open.add(outgoing)
    outgoing.once('close', () => connection.open.delete(outgoing))
    incoming.once('end', () => connection.requestRead())
    incoming.on('error', () => {})
    outgoing.on('error', () => {})
    try {
      const foreign = pageRefusal(incoming, this.#isPrivate)
      if (foreign !== null) {
        await this.#refused(incoming, outgoing, foreign, performance.now())
        return
      }
      const path = (incoming.url ?? '/').split('?', 1)[0]
      const watched = incoming.method === 'GET' ? this.#watch.get(path) : undefined
      const isAllowed = this.#options.isAllowed?.(incoming.headers) ?? true
      if (watched === undefined && isAllowed) await this.#admitted(incoming, outgoing, connection)
      else await this.#handled(watched ?? this.#options.handler, incoming, outgoing, new Uint8Array())
    } catch (error) {
      this.#options.log?.event('error', errorFields(error))
      if (outgoing.headersSent) outgoing.destroy()
      else await this.#refuse(incoming, outgoing, INTERNAL)
    }
  }

  async #admitted(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    connection: HttpConnection,
  ): Promise<void> {
    const startedMs = performance.now()
    const { limits, handler } = this.#options
    const refusal = this.admission.enter(connection.open.size)
    if (refusal !== null) return this.#refused(incoming, outgoing, refusal, startedMs)
    let held = 0
    const hold = (bytes: number) => {
      const full = this.admission.hold(bytes)
      if (full === null) held += bytes
      return full
    }
    let end: Awaited<ReturnType<typeof readBody>>
    try {
      end = await readBody(incoming, { maxBytes: limits.bodyBytes, timeoutMs: limits.bodyMs, hold })
      if (end !== 'gone' && 'body' in end) await this.#handled(handler, incoming, outgoing, end.body)
    } finally {
      this.admission.leave(held)
    }
    if (end !== 'gone' && 'refusal' in end) await this.#refused(incoming, outgoing, end.refusal, startedMs)
  }

  /** Counts and tells of a refusal, and answers. */
  async #refused(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    refusal: Refusal,
    startedMs: number,
  ): Promise<void> {
    this.metrics.refused.inc({ reason: refusal.reason })
    const ms = performance.now() - startedMs
    const { method = '' } = incoming
    this.#options.log?.refused({ method, status: refusal.status, error: refusal.kind, ms })
    await this.#refuse(incoming, outgoing, refusal)
  }

  async #handled(
    handler: Handler,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    body: Uint8Array<ArrayBuffer>,
  ): Promise<void> {
    const gone = new AbortController()
    const connection = this.connections.of(incoming.socket)
    whenOver(outgoing, connection, () => {
      if (!outgoing.writableFinished) gone.abort()
    })
    const { method = 'GET', url = '/' } = incoming
    const answer = await handler({ method, url, headers: flatHeaders(incoming), body, signal: gone.signal })
    if (outgoing.destroyed || incoming.socket.destroyed) return letGo(answer)
    this.#head(outgoing, answer)
    const { answerMs } = this.#options.limits
    const late = () => {
      this.metrics.refused.inc({ reason: 'untaken' })
      // The whole connection: what waits behind this answer would not be taken either.
      incoming.socket.destroy()
    }
    if (answer.body instanceof ReadableStream) {
      await pump(answer.body, outgoing, answerMs, late)
      untilTaken(outgoing, answerMs, late)
      return
    }
    const bytes = Buffer.byteLength(answer.body)
    this.admission.keep(bytes)
    whenOver(outgoing, connection, () => this.admission.giveBack(bytes))
    outgoing.end(answer.body)
    untilTaken(outgoing, answerMs, late)
  }

  #head(outgoing: ServerResponse, { status, headers, body }: FrontAnswer): void {
    outgoing.statusCode = status
    for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value)
    if (!(body instanceof ReadableStream)) outgoing.setHeader('content-length', Buffer.byteLength(body))
    if (this.#draining && this.#isLastOf(outgoing)) outgoing.setHeader('connection', 'close')
  }

  /** No request follows on the connection that is here already. */
  #isLastOf(outgoing: ServerResponse): boolean {
    const { socket } = outgoing
    return socket === null || [...this.connections.of(socket).open].at(-1) === outgoing
  }

  /** Answers, and takes what the client still sends so that it comes to read the answer. */
  async #refuse(incoming: IncomingMessage, outgoing: ServerResponse, refusal: Refusal): Promise<void> {
    if (outgoing.destroyed) return
    const { bodyBytes, bodyMs } = this.#options.limits
    const rest = { maxBytes: Math.max(DISCARD_BYTES, bodyBytes * DISCARD_TIMES), timeoutMs: bodyMs }
    const small = (statedLength(incoming) ?? Number.POSITIVE_INFINITY) <= SMALL_BODY_BYTES
    const willCome = refusal.kind !== 'timeout' && incoming.headers.expect === undefined
    if (small && willCome) await discardBody(incoming, rest)
    this.#head(outgoing, {
      status: refusal.status,
      headers: {
        'content-type': 'application/json',
        ...(refusal.retryAfterS !== undefined && { 'retry-after': String(refusal.retryAfterS) }),
        ...(!incoming.complete && { connection: 'close' }),
      },
      body: '',
    })
    const text = JSON.stringify(this.#options.errorBody(refusal))
    outgoing.setHeader('content-length', Buffer.byteLength(text))
    if (incoming.complete) {
      outgoing.end(text)
      return
    }
    // The answer is out, its end is not: that would close the connection under what is being sent.
    outgoing.write(text)
    await discardBody(incoming, rest)
    outgoing.end()
  }

  /** What is no HTTP gets an answer too. */
  #clientError(error: NodeJS.ErrnoException, socket: Socket): void {
    const refusal = malformed(error)
    const connection = this.connections.of(socket)
    const answering = [...connection.open].some(({ headersSent }) => headersSent)
    if (GONE.has(error.code ?? '') || !socket.writable || answering) {
      socket.destroy()
      return
    }
    // Nobody has begun a request on a connection that says nothing until its time is over.
    if (socket.bytesRead > 0) this.metrics.refused.inc({ reason: refusal.reason })
    const text = JSON.stringify(this.#options.errorBody(refusal))
    const head = `HTTP/1.1 ${refusal.status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n`
    socket.end(head + text, () => socket.destroySoon())
  }

  /**
   * Stops: says so for `drainNoticeMs`, then takes no new connections, answers every request on those that are open, and
   * closes each when nothing has come on it for a while.
   * @returns how many requests were left without an answer when `drainMs` had passed; 0 as a rule
   */
  drain(): Promise<number> {
    this.#drained ??= this.#drain()
    return this.#drained
  }

  async #drain(): Promise<number> {
    const { drainNoticeMs, drainMs } = this.#options.limits
    this.#draining = true
    await sleep(drainNoticeMs)
    const { closed } = await endIdle(this.#server, this.connections, drainMs)
    const unanswered = this.connections.openRequests + this.connections.unfinishedHeads
    this.metrics.unanswered.inc(unanswered)
    this.connections.destroyAll()
    await closed
    return unanswered
  }

  /** After `drain`: lets go of what the metrics hold. */
  close(): void {
    this.metrics.close()
  }
}
