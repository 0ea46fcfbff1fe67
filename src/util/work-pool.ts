/**
 * @file Worker threads that can be killed, for work on input that nobody vouches for. A job has a budget; one that runs over
 * it, or takes its thread down, fails alone: the thread is replaced, and what waited behind is done by another.
 */

import { isOver } from './thread-clock.ts'
import { WorkCrashed, WorkError, WorkFailed, WorkRefused, WorkTimeout, WorkUnstarted } from './work-errors.ts'
import { sharedNowMs } from './work-place.ts'
import { WorkQueue } from './work-queue.ts'
import type { WorkAnswer } from './work-serve.ts'
import { WorkThread } from './work-thread.ts'

export interface WorkPoolOptions {
  /** Threads at most. The second starts only when jobs wait behind a slow one. Default 1. */
  threads?: number
  /** Megabytes of JavaScript heap of a thread. Default 256. */
  heapMb?: number
  /** Jobs that may wait for a thread; more are refused. Default: no limit. */
  maxWaiting?: number
  /** Jobs sent to a thread at once: a message costs more than a small job. Default 64. */
  maxBatch?: number
  /** After so long without a job the threads end; the next job starts one. Default 30,000. */
  idleMs?: number
  /** How often the watchdog looks. Default 20. */
  tickMs?: number
  /** What every worker is given; it reads it by `workData`. */
  data?: unknown
}

export interface WorkOptions {
  /**
   * Milliseconds that a job may compute in its thread. Waiting and starting a thread do not count, nor does time in which
   * the machine gave it no core (where the system tells; ten times the budget is the end), nor time in which this thread
   * did not get to look.
   */
  budgetMs: number
  signal?: AbortSignal
}

export interface WorkPoolStats {
  /** Jobs taken. */
  jobs: number
  /** Jobs that ran over their budget. */
  timeouts: number
  /** Jobs that took their thread down. */
  crashes: number
  /** Threads started in the place of others that died or were killed. */
  restarts: number
  /** Threads there now. */
  threads: number
  /** Jobs without an answer: those that wait for a thread, and those that a thread has. */
  waiting: number
  running: number
}

interface Job<Request, Reply> {
  readonly id: number
  readonly request: Request
  readonly budgetMs: number
  /** Sent by itself, because a thread died with it at hand or near it and it is not known which job it was. */
  alone: boolean
  /** Threads that died while it was their only job, without a word about what they were at. */
  deaths: number
  settled: boolean
  resolve(reply: Reply): void
  reject(error: unknown): void
}

/** A thread with the jobs that were sent to it, in their order. */
interface Slot<Request, Reply> {
  readonly thread: WorkThread<Request, Reply>
  readonly sent: Map<number, Job<Request, Reply>>
  ready: boolean
  /** The job that was at hand when the watchdog looked last, and the milliseconds that it is charged so far. */
  seen: number | null
  chargedMs: number
  /** The thread's core time when the job began, about; null until the job is seen for the second time. */
  baseMs: number | null
  /** Milliseconds that it has been starting, working on this batch, or dying. */
  phaseMs: number
  /** The job that it is being killed for; null while it is not. */
  doomed: Job<Request, Reply> | null
  dying: boolean
  gone: boolean
}

const START_LIMIT_MS = 60_000
/** Starts that may fail, one after the other, until the jobs that wait are failed. */
const MAX_FAILED_STARTS = 3
/** A thread in native code may outlive its end; its jobs go on without it. */
const END_LIMIT_MS = 2_000
/** A tick that comes later than so many ticks counts as so many: what the caller's thread missed is nobody's fault. */
const MAX_TICKS_CHARGED = 3
/** Ticks that a thread must have been busy before a second one is started. */
const TICKS_BEFORE_MORE = 2

export class WorkPool<Request, Reply> {
  readonly #entry: URL
  readonly #options: Required<WorkPoolOptions>
  readonly #waiting = new WorkQueue<Job<Request, Reply>>()
  readonly #slots = new Set<Slot<Request, Reply>>()
  readonly #stats = { jobs: 0, timeouts: 0, crashes: 0, restarts: 0 }
  #nextId = 0
  /** Jobs without an answer, and those of them that no thread has. */
  #open = 0
  #unsent = 0
  #failedStarts = 0
  #lost = 0
  #dispatchPlanned = false
  #ticker: NodeJS.Timeout | null = null
  #lastTickMs = 0
  #retiring: NodeJS.Timeout | null = null
  #closed = false

  /** @param entry JavaScript that calls `serveWork`; see `workerUrl` */
  constructor(entry: URL, options: WorkPoolOptions = {}) {
    this.#entry = entry
    this.#options = {
      threads: 1,
      heapMb: 256,
      maxWaiting: Number.POSITIVE_INFINITY,
      maxBatch: 64,
      idleMs: 30_000,
      tickMs: 20,
      data: null,
      ...options,
    }
  }

  /**
   * @throws WorkTimeout, WorkCrashed and WorkFailed for what became of the job, WorkUnstarted and WorkRefused for one that was
   * not taken, the signal's reason when it is aborted.
   */
  run(request: Request, { budgetMs, signal }: WorkOptions): Promise<Reply> {
    return new Promise<Reply>((resolve, reject) => {
      signal?.throwIfAborted()
      this.#refuse()
      const job: Job<Request, Reply> = {
        id: this.#nextId++,
        request,
        budgetMs,
        alone: false,
        deaths: 0,
        settled: false,
        resolve,
        reject,
      }
      this.#stats.jobs++
      if (this.#open++ === 0) this.#wake()
      this.#unsent++
      this.#waiting.push(job)
      if (signal) this.#heed(job, signal)
      this.#planDispatch()
    })
  }

  stats(): WorkPoolStats {
    return {
      ...this.#stats,
      threads: this.#slots.size,
      waiting: this.#unsent,
      running: this.#open - this.#unsent,
    }
  }

  /** Ends the threads; jobs without an answer are refused. */
  async close(): Promise<void> {
    this.#closed = true
    const error = new WorkRefused('the pool of workers was closed')
    const jobs = [...this.#waiting.drain(), ...[...this.#slots].flatMap(({ sent }) => [...sent.values()])]
    for (const job of jobs) this.#settle(job, () => job.reject(error))
    this.#unsent = 0
    this.#stopTicker()
    if (this.#retiring) clearTimeout(this.#retiring)
    await this.#endAll()
  }

  #refuse(): void {
    if (this.#closed) throw new WorkRefused('the pool of workers is closed')
    const { maxWaiting } = this.#options
    if (this.#unsent >= maxWaiting)
      throw new WorkRefused(`expected at most ${maxWaiting} jobs that wait for a worker; try again later`)
  }

  /** An aborted job leaves the queue; one that a thread is at already is answered, and watched until it ends. */
  #heed(job: Job<Request, Reply>, signal: AbortSignal): void {
    const onAbort = () => {
      const sent = [...this.#slots].some(slot => slot.sent.has(job.id))
      this.#settle(job, () => job.reject(signal.reason))
      if (!sent) this.#unsent--
    }
    signal.addEventListener('abort', onAbort, { once: true })
    const { resolve, reject } = job
    job.resolve = reply => {
      signal.removeEventListener('abort', onAbort)
      resolve(reply)
    }
    job.reject = error => {
      signal.removeEventListener('abort', onAbort)
      reject(error)
    }
  }

  #settle(job: Job<Request, Reply>, answer: () => void): void {
    if (job.settled) return
    job.settled = true
    if (--this.#open === 0) this.#ticker?.unref()
    answer()
  }

  /** All requests that come in one turn of the event loop go out together. */
  #planDispatch(): void {
    if (this.#dispatchPlanned) return
    this.#dispatchPlanned = true
    setImmediate(() => {
      this.#dispatchPlanned = false
      this.#dispatch()
    })
  }

  #dispatch(): void {
    if (this.#closed) return
    for (const slot of this.#slots) {
      if (this.#unsent === 0) return
      if (slot.ready && !slot.dying && slot.sent.size === 0) this.#send(slot)
    }
    if (this.#unsent > 0 && this.#slots.size === 0) this.#start()
  }

  #takeBatch(): Job<Request, Reply>[] {
    const batch: Job<Request, Reply>[] = []
    while (batch.length < this.#options.maxBatch) {
      const next = this.#waiting.peek()
      if (next === undefined || (next.alone && batch.length > 0 && !next.settled)) break
      this.#waiting.shift()
      if (next.settled) continue
      batch.push(next)
      if (next.alone) break
    }
    this.#unsent -= batch.length
    return batch
  }

  #send(slot: Slot<Request, Reply>): void {
    const batch = this.#takeBatch()
    if (batch.length === 0) return
    slot.phaseMs = 0
    for (const job of batch) slot.sent.set(job.id, job)
    try {
      slot.thread.post(batch.map(({ id, request }) => ({ id, request })))
    } catch {
      for (const job of batch) this.#sendAlone(slot, job)
    }
  }

  /** One request that cannot be sent must not take the others with it. */
  #sendAlone(slot: Slot<Request, Reply>, job: Job<Request, Reply>): void {
    try {
      slot.thread.post([{ id: job.id, request: job.request }])
    } catch (error) {
      slot.sent.delete(job.id)
      const why = `expected a request that can be sent to a worker: ${(error as Error).message}`
      this.#settle(job, () => job.reject(new WorkFailed(why)))
    }
  }

  #start(): void {
    if (this.#lost > 0) {
      this.#lost--
      this.#stats.restarts++
    }
    const { heapMb, data } = this.#options
    const thread = new WorkThread<Request, Reply>(
      { entry: this.#entry, heapMb, data },
      {
        onReady: () => {
          if (slot.gone) return
          slot.ready = true
          slot.phaseMs = 0
          this.#failedStarts = 0
          this.#dispatch()
        },
        onAnswers: answers => this.#hear(slot, answers),
        onEnd: why => this.#bury(slot, why),
      },
    )
    const slot: Slot<Request, Reply> = {
      thread,
      sent: new Map(),
      ready: false,
      seen: null,
      chargedMs: 0,
      baseMs: null,
      phaseMs: 0,
      doomed: null,
      dying: false,
      gone: false,
    }
    this.#slots.add(slot)
  }

  #hear(slot: Slot<Request, Reply>, answers: readonly WorkAnswer<Reply>[]): void {
    if (slot.gone) return
    for (const answer of answers) {
      const job = slot.sent.get(answer.id)
      if (!job) continue
      slot.sent.delete(answer.id)
      this.#settle(job, () =>
        'error' in answer ? job.reject(new WorkFailed(answer.error)) : job.resolve(answer.value),
      )
    }
    if (slot.sent.size === 0) this.#dispatch()
  }

  /** A thread is gone: the job that it died of fails, all others are done again. */
  #bury(slot: Slot<Request, Reply>, why: string): void {
    if (slot.gone) return
    slot.gone = true
    this.#slots.delete(slot)
    if (this.#closed) return
    if (slot.ready) {
      if (slot.sent.size > 0) this.#lost++
      this.#blame(slot, why)
    } else this.#startFailed(why)
    const left = [...slot.sent.values()].filter(job => !job.settled)
    this.#unsent += left.length
    this.#waiting.restore(left)
    this.#dispatch()
  }

  #blame(slot: Slot<Request, Reply>, why: string): void {
    const position = slot.thread.position()
    if (slot.dying) {
      const { doomed } = slot
      if (!doomed || doomed.settled) return
      this.#stats.timeouts++
      const part = position?.job === doomed.id ? position.part : null
      const error = new WorkTimeout(`it was not done within ${doomed.budgetMs} ms`, part)
      this.#settle(doomed, () => doomed.reject(error))
      return
    }
    const culprit = position === null ? undefined : slot.sent.get(position.job)
    if (culprit) {
      this.#crash(culprit, why, position!.part)
      return
    }
    const suspects = [...slot.sent.values()]
    for (const job of suspects) job.alone = true
    if (suspects.length === 1 && ++suspects[0].deaths > 1) this.#crash(suspects[0], why, null)
  }

  #crash(job: Job<Request, Reply>, why: string, part: number | null): void {
    this.#stats.crashes++
    this.#settle(job, () => job.reject(new WorkCrashed(`its worker stopped: ${why}`, part)))
  }

  #startFailed(why: string): void {
    if (++this.#failedStarts < MAX_FAILED_STARTS) return
    this.#failedStarts = 0
    if ([...this.#slots].some(({ ready }) => ready)) return
    this.#unsent = 0
    for (const job of this.#waiting.drain())
      this.#settle(job, () => job.reject(new WorkUnstarted(`a worker could not be started: ${why}`)))
  }

  #kill(slot: Slot<Request, Reply>, doomed: Job<Request, Reply> | null): void {
    slot.dying = true
    slot.doomed = doomed
    slot.phaseMs = 0
    void slot.thread.end()
  }

  #wake(): void {
    if (this.#retiring) clearTimeout(this.#retiring)
    this.#retiring = null
    if (this.#ticker) {
      this.#ticker.ref()
      return
    }
    this.#lastTickMs = sharedNowMs()
    this.#ticker = setInterval(() => this.#tick(), this.#options.tickMs)
  }

  #stopTicker(): void {
    if (this.#ticker) clearInterval(this.#ticker)
    this.#ticker = null
  }

  /** Looks what each thread is at. Only time in which this thread could look is charged. */
  #tick(): void {
    const nowMs = sharedNowMs()
    const passedMs = Math.min(nowMs - this.#lastTickMs, MAX_TICKS_CHARGED * this.#options.tickMs)
    this.#lastTickMs = nowMs
    for (const slot of this.#slots) this.#watch(slot, nowMs, passedMs)
    const { size } = this.#slots
    if (this.#unsent > 0 && size > 0 && size < this.#options.threads && this.#allSlow()) this.#start()
    if (this.#open === 0 && ![...this.#slots].some(({ sent, dying }) => sent.size > 0 || dying)) this.#rest()
  }

  #watch(slot: Slot<Request, Reply>, nowMs: number, passedMs: number): void {
    slot.phaseMs += passedMs
    if (slot.dying) {
      if (slot.phaseMs > END_LIMIT_MS) this.#bury(slot, 'it did not end when it was told to')
      return
    }
    if (!slot.ready) {
      if (slot.phaseMs > START_LIMIT_MS) this.#kill(slot, null)
      return
    }
    const position = slot.thread.position()
    const job = position === null ? undefined : slot.sent.get(position.job)
    if (!position || !job) {
      slot.seen = null
      return
    }
    if (slot.seen !== job.id) {
      slot.seen = job.id
      slot.chargedMs = Math.min(nowMs - position.sinceMs, passedMs)
      slot.baseMs = null
      return
    }
    slot.chargedMs += passedMs
    const coreMs = slot.thread.coreMs()
    if (coreMs !== null) slot.baseMs ??= coreMs - slot.chargedMs
    const computedMs = coreMs === null || slot.baseMs === null ? null : coreMs - slot.baseMs
    if (isOver(job.budgetMs, slot.chargedMs, computedMs)) this.#kill(slot, job)
  }

  #allSlow(): boolean {
    const busyMs = TICKS_BEFORE_MORE * this.#options.tickMs
    return [...this.#slots].every(({ ready, phaseMs, sent }) => ready && sent.size > 0 && phaseMs >= busyMs)
  }

  /** Nothing to do: the watchdog stops, and later the threads. */
  #rest(): void {
    this.#stopTicker()
    this.#retiring = setTimeout(() => {
      this.#retiring = null
      void this.#endAll()
    }, this.#options.idleMs)
    this.#retiring.unref()
  }

  async #endAll(): Promise<void> {
    const slots = [...this.#slots]
    this.#slots.clear()
    for (const slot of slots) slot.gone = true
    await Promise.all(slots.map(({ thread }) => thread.end()))
  }
}

export { WorkCrashed, WorkError, WorkFailed, WorkRefused, WorkTimeout }
