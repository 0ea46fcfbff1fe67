/**
 * @file Worker threads that can be killed, for work on input that nobody vouches for. A job has a budget; one that runs over
 * it, or takes its thread down, fails alone: the thread is replaced, and what waited behind is done by another.
 */

import { WorkCrashed, WorkError, WorkFailed, WorkRefused, WorkTimeout, WorkUnstarted } from './work-errors.ts'
import { OpenJobs } from './work-jobs.ts'
import { sharedNowMs } from './work-place.ts'
import { WorkSlot } from './work-slot.ts'

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

/** Starts that may fail, one after the other, until the jobs that wait are failed. */
const MAX_FAILED_STARTS = 3
/** A tick that comes later than so many ticks counts as so many: what the caller's thread missed is nobody's fault. */
const MAX_TICKS_CHARGED = 3
/** Ticks that a thread must have been busy before a second one is started. */
const TICKS_BEFORE_MORE = 2

export class WorkPool<Request, Reply> {
  readonly #entry: URL
  readonly #options: Required<WorkPoolOptions>
  readonly #jobs = new OpenJobs<Request, Reply>(() => this.#ticker?.unref())
  readonly #slots = new Set<WorkSlot<Request, Reply>>()
  #failedStarts = 0
  /** Threads that died at work, and those started in their place. */
  #lost = 0
  #restarts = 0
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
      if (this.#jobs.open === 0) this.#wake()
      this.#jobs.add({ request, budgetMs, resolve, reject }, signal)
      this.#planDispatch()
    })
  }

  stats(): WorkPoolStats {
    const { counts, open, unsent } = this.#jobs
    return {
      ...counts,
      restarts: this.#restarts,
      threads: this.#slots.size,
      waiting: unsent,
      running: open - unsent,
    }
  }

  /** Ends the threads; jobs without an answer are refused. */
  async close(): Promise<void> {
    this.#closed = true
    const error = new WorkRefused('the pool of workers was closed')
    this.#jobs.failWaiting(() => error)
    for (const { sent } of this.#slots)
      for (const job of sent.values()) this.#jobs.settle(job, () => job.reject(error))
    this.#stopTicker()
    if (this.#retiring) clearTimeout(this.#retiring)
    await this.#endAll()
  }

  #refuse(): void {
    if (this.#closed) throw new WorkRefused('the pool of workers is closed')
    const { maxWaiting } = this.#options
    if (this.#jobs.unsent >= maxWaiting)
      throw new WorkRefused(`expected at most ${maxWaiting} jobs that wait for a worker; try again later`)
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
      if (this.#jobs.unsent === 0) return
      if (slot.isFree) slot.send(this.#jobs.takeBatch(this.#options.maxBatch))
    }
    if (this.#jobs.unsent > 0 && this.#slots.size === 0) this.#start()
  }

  #start(): void {
    if (this.#lost > 0) {
      this.#lost--
      this.#restarts++
    }
    const { heapMb, maxBatch, data } = this.#options
    const slot = new WorkSlot<Request, Reply>({ entry: this.#entry, heapMb, maxBatch, data }, this.#jobs, {
      onReady: () => {
        this.#failedStarts = 0
        this.#dispatch()
      },
      onIdle: () => this.#dispatch(),
      onGone: why => this.#bury(slot, why),
    })
    this.#slots.add(slot)
  }

  /** A thread is gone: the job that it died of fails, all others are done again. */
  #bury(slot: WorkSlot<Request, Reply>, why: string): void {
    if (slot.gone) return
    slot.gone = true
    this.#slots.delete(slot)
    if (this.#closed) return
    if (slot.ready) {
      if (slot.sent.size > 0) this.#lost++
      slot.blame(why)
    } else this.#startFailed(why)
    this.#jobs.giveBack(slot.sent.values())
    this.#dispatch()
  }

  #startFailed(why: string): void {
    if (++this.#failedStarts < MAX_FAILED_STARTS) return
    this.#failedStarts = 0
    if ([...this.#slots].some(({ ready }) => ready)) return
    this.#jobs.failWaiting(() => new WorkUnstarted(`a worker could not be started: ${why}`))
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
    for (const slot of this.#slots) slot.watch(nowMs, passedMs, this.#jobs.unsent > 0)
    const { size } = this.#slots
    if (this.#jobs.unsent > 0 && size > 0 && size < this.#options.threads && this.#allSlow()) this.#start()
    if (this.#jobs.open === 0 && ![...this.#slots].some(slot => slot.isAtWork)) this.#rest()
  }

  #allSlow(): boolean {
    const busyMs = TICKS_BEFORE_MORE * this.#options.tickMs
    return [...this.#slots].every(slot => slot.isSlow(busyMs))
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
    await Promise.all(slots.map(slot => slot.end()))
  }
}

export { WorkCrashed, WorkError, WorkFailed, WorkRefused, WorkTimeout }
