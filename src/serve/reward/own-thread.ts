/**
 * @file A reward service in a thread of its own: whatever a request makes of it, the front goes on. A thread that takes no
 * notice of anything for `limits.stallMs`, starts much longer than the first one did, or ends, is replaced; what it had is
 * answered 503.
 */

import { Worker } from 'node:worker_threads'
import { ConfigError } from '../../util/errors.ts'
import { workerUrl } from '../../util/worker-url.ts'
import { type FrontAnswer, type Handler, jsonAnswer } from '../http/exchange.ts'
import type { Unhandled } from '../http/guards.ts'
import { AccessLog } from './access-log.ts'
import type { RewardBack } from './back.ts'
import type { RewardConfig } from './config.ts'
import type { FromGrading, GradingSetup, ToGrading } from './thread-messages.ts'
import { serviceToken } from './token.ts'

export interface OwnThreadOptions {
  folder: string
  /** Where lines of the access log go; nowhere when absent. */
  writeLog?: (line: string) => void
  /** Called with what nobody caught in the thread. */
  onUnhandled?: Unhandled
  /** JavaScript that the thread runs. */
  entry?: URL
}

const PING_MS = 500
/** Between two tries to start a thread. */
const RETRY_MS = 2_000
/** A thread may take so many times as long to start as the first one did, on a machine that is busier now. */
const START_FACTOR = 5
/** A thread that is told to close and does not is ended. */
const CLOSE_LIMIT_MS = 10_000

interface Waiting {
  resolve(answer: FrontAnswer): void
}

const lost = (why: string): FrontAnswer =>
  jsonAnswer(
    { error: { type: 'stalled', message: `grading was stopped and begins anew: ${why}; try again` } },
    503,
    { 'retry-after': '2' },
  )

const failed = (): FrontAnswer =>
  jsonAnswer(
    { error: { type: 'internal', message: 'the service failed on this request; its log says more' } },
    500,
  )

/** One thread, from its start to its end. */
class GradingThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  readonly ready: Promise<void>
  readonly closed: Promise<void>
  #nextId = 0
  /** When the ping that has no answer was sent. */
  #pingedAtMs: number | null = null
  readonly #bornMs = performance.now()
  #over = false
  #isReady = false

  constructor(setup: GradingSetup, options: OwnThreadOptions, onEnd: (why: string) => void) {
    const entry = options.entry ?? workerUrl(import.meta.url, './grading-thread.js')
    this.#worker = new Worker(entry, { workerData: setup })
    let opened = () => {}
    let refused = (_: Error) => {}
    let closed = () => {}
    this.ready = new Promise((resolve, reject) => {
      opened = resolve
      refused = reject
    })
    this.ready.catch(() => {})
    this.closed = new Promise(resolve => {
      closed = resolve
    })
    const end = (why: string) => {
      if (this.#over) return
      this.#over = true
      for (const { resolve } of this.#waiting.values()) resolve(lost(why))
      this.#waiting.clear()
      refused(new ConfigError(`the grading thread ended: ${why}`))
      closed()
      onEnd(why)
    }
    this.#worker.on('message', (message: FromGrading) => {
      if (message.kind === 'ready') {
        this.#isReady = true
        opened()
      } else if (message.kind === 'refused')
        refused(message.foreseen ? new ConfigError(message.message) : new Error(message.message))
      else if (message.kind === 'pong') this.#pingedAtMs = null
      else if (message.kind === 'log') options.writeLog?.(message.line)
      else if (message.kind === 'unhandled') options.onUnhandled?.(message.what, message.fields)
      else if (message.kind === 'closed') closed()
      else this.#settle(message.id, message.kind === 'answer' ? message.answer : failed())
    })
    this.#worker.on('error', error => end(error.message))
    this.#worker.on('exit', code => end(`exit code ${code}`))
  }

  #settle(id: number, answer: FrontAnswer): void {
    this.#waiting.get(id)?.resolve(answer)
    this.#waiting.delete(id)
  }

  #send(message: ToGrading, transfer: ArrayBuffer[] = []): void {
    if (!this.#over) this.#worker.postMessage(message, transfer)
  }

  readonly handle: Handler = ({ signal, ...request }) => {
    if (this.#over) return Promise.resolve(lost('it ended'))
    if (signal.aborted) return Promise.resolve(lost('nobody waits for it'))
    return new Promise(resolve => {
      const id = this.#nextId++
      const onAbort = () => this.#send({ kind: 'abort', id })
      this.#waiting.set(id, {
        resolve: answer => {
          signal.removeEventListener('abort', onAbort)
          resolve(answer)
        },
      })
      signal.addEventListener('abort', onAbort, { once: true })
      this.#send({ kind: 'request', id, request }, [request.body.buffer])
    })
  }

  /** Milliseconds that it has been starting for; 0 once it is ready, or has ended. */
  startingMs(): number {
    return this.#isReady || this.#over ? 0 : performance.now() - this.#bornMs
  }

  /** Milliseconds since a ping that has no answer yet; asks anew where there is none. 0 while it is starting. */
  silentMs(): number {
    if (!this.#isReady) return 0
    if (this.#pingedAtMs !== null) return performance.now() - this.#pingedAtMs
    this.#pingedAtMs = performance.now()
    this.#send({ kind: 'ping' })
    return 0
  }

  kill(): void {
    void this.#worker.terminate()
  }

  async close(): Promise<void> {
    this.#send({ kind: 'close' })
    const late = setTimeout(() => this.kill(), CLOSE_LIMIT_MS)
    await this.closed
    clearTimeout(late)
    await this.#worker.terminate()
  }
}

/** Keeps one thread running. */
class Grading {
  readonly #setup: GradingSetup
  readonly #options: OwnThreadOptions
  readonly #log: AccessLog | null
  #thread: GradingThread
  #watchdog: NodeJS.Timeout
  #closing = false
  /** Of a start; of the first one none, which may fetch a judge's model, and which the caller waits for. */
  #startLimitMs = Number.POSITIVE_INFINITY
  restarts = 0

  constructor(setup: GradingSetup, options: OwnThreadOptions, log: AccessLog | null) {
    this.#setup = setup
    this.#options = options
    this.#log = log
    this.#thread = this.#start()
    void this.#limitStarts(performance.now())
    this.#watchdog = setInterval(() => this.#watch(), PING_MS)
    this.#watchdog.unref()
  }

  get ready(): Promise<void> {
    return this.#thread.ready
  }

  async #limitStarts(beganMs: number): Promise<void> {
    await this.ready.catch(() => {})
    const tookMs = Math.round(performance.now() - beganMs)
    this.#startLimitMs = Math.max(this.#setup.config.limits.stallMs, START_FACTOR * tookMs)
  }

  #start(): GradingThread {
    return new GradingThread(this.#setup, this.#options, why => this.#replace(why))
  }

  /** The first start is the caller's to fail; after that there is always another. */
  #replace(why: string): void {
    if (this.#closing) return
    this.#log?.event('grading-thread-ended', { why })
    setTimeout(
      () => {
        if (this.#closing) return
        this.restarts += 1
        this.#thread = this.#start()
      },
      this.restarts === 0 ? 0 : RETRY_MS,
    )
  }

  #watch(): void {
    const { stallMs } = this.#setup.config.limits
    const thread = this.#thread
    const startMs = this.#startLimitMs
    const stalled = thread.silentMs() > stallMs ? { stallMs } : thread.startingMs() > startMs && { startMs }
    if (!stalled) return
    this.#log?.event('grading-thread-stalled', stalled)
    thread.kill()
  }

  readonly handle: Handler = async request => {
    const thread = this.#thread
    await thread.ready.catch(() => {})
    return thread.handle(request)
  }

  async close(): Promise<void> {
    this.#closing = true
    clearInterval(this.#watchdog)
    await this.#thread.close()
  }
}

/**
 * Opens the reward service of a configuration in a thread of its own.
 * @throws ConfigError naming what cannot be used
 */
export const inOwnThread = async (config: RewardConfig, options: OwnThreadOptions): Promise<RewardBack> => {
  const token = serviceToken(config.server)
  const log = options.writeLog === undefined ? null : new AccessLog(options.writeLog, config.log)
  const grading = new Grading({ config, folder: options.folder }, options, log)
  try {
    await grading.ready
  } catch (error) {
    await grading.close()
    throw error
  }
  return {
    handler: grading.handle,
    limits: config.limits,
    token,
    log,
    restarts: () => grading.restarts,
    close: () => grading.close(),
  }
}
