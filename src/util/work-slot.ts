/** @file One thread of a pool with the jobs that it was sent, and the watchdog that kills it for a job that runs over its budget. */

import { Worker } from 'node:worker_threads'
import { coreMs, isOver } from './thread-clock.ts'
import { WorkFailed } from './work-errors.ts'
import type { OpenJob, OpenJobs } from './work-jobs.ts'
import { WorkPlace, type WorkPosition } from './work-place.ts'
import type { ThreadData, ThreadMessage, WorkAnswer, WorkJob } from './work-serve.ts'

export interface ThreadOptions {
  entry: URL
  /** Megabytes of JavaScript heap that a thread may fill; beyond, it ends. */
  heapMb: number
  /** Jobs sent at once. */
  maxBatch: number
  data: unknown
}

export interface ThreadEvents<Reply> {
  onReady(): void
  onAnswers(answers: readonly WorkAnswer<Reply>[]): void
  /** Once, when the thread is gone and everything that it sent has been heard. */
  onEnd(why: string): void
}

/** Never keeps the process alive by itself; that is for whoever waits for its answers. */
export class WorkThread<Request, Reply> {
  readonly #worker: Worker
  readonly #place: WorkPlace
  #clock: string | null = null

  constructor({ entry, heapMb, maxBatch, data }: ThreadOptions, events: ThreadEvents<Reply>) {
    this.#place = new WorkPlace(maxBatch)
    this.#worker = new Worker(entry, {
      execArgv: [],
      workerData: { place: this.#place.buffer, data } satisfies ThreadData,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
    let why = ''
    this.#worker
      .on('message', (message: ThreadMessage<Reply>) => {
        if ('answers' in message) {
          events.onAnswers(message.answers)
          return
        }
        this.#clock = message.ready
        events.onReady()
      })
      .on('error', error => {
        why = error instanceof Error ? error.message : String(error)
      })
      .on('exit', code => events.onEnd(why || `it ended with exit code ${code}`))
    // Not before: who listens to a worker holds on to it again.
    this.#worker.unref()
  }

  /** @throws DataCloneError for a request that cannot be sent. */
  post(jobs: readonly WorkJob<Request>[]): void {
    this.#worker.postMessage(jobs)
  }

  /** What it was sent is answered: the next batch begins. */
  beginBatch(): void {
    this.#place.keepAll()
  }

  /** Nobody waits for a job any more: if it has not begun, it never does. */
  drop(place: number): void {
    this.#place.drop(place)
  }

  /** What it is at, now; also when it is gone. */
  position(): WorkPosition | null {
    return this.#place.read()
  }

  /** Milliseconds that it had a core so far; null where that is not known. */
  coreMs(): number | null {
    return coreMs(this.#clock)
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }
}

const START_LIMIT_MS = 60_000
/** A job that nobody waits for any more may go on for so long where others wait: about what another thread takes to start. */
const UNWANTED_LIMIT_MS = 300
/** A thread in native code may outlive its end; its jobs go on without it. */
const END_LIMIT_MS = 2_000

interface SlotEvents {
  onReady(): void
  /** All that was sent is answered. */
  onIdle(): void
  /** The thread is gone, or does not end; may be told twice. */
  onGone(why: string): void
}

/** Answers jobs as its thread does; what becomes of the others when the thread dies is the pool's to say. */
export class WorkSlot<Request, Reply> {
  readonly #jobs: OpenJobs<Request, Reply>
  readonly #events: SlotEvents
  readonly #thread: WorkThread<Request, Reply>
  /** In their order. */
  readonly sent = new Map<number, OpenJob<Request, Reply>>()
  ready = false
  /** The pool has given it up. */
  gone = false
  /** The job that was at hand when the watchdog looked last, and the milliseconds that it is charged so far. */
  #seen: number | null = null
  #chargedMs = 0
  /** The thread's core time when the job began, about; null until the job is seen for the second time. */
  #baseMs: number | null = null
  /** Milliseconds that it has been starting, working on this batch, or dying. */
  #phaseMs = 0
  #dying = false
  /** The job that it is being killed for; null while it is not. */
  #doomed: OpenJob<Request, Reply> | null = null

  constructor(options: ThreadOptions, jobs: OpenJobs<Request, Reply>, events: SlotEvents) {
    this.#jobs = jobs
    this.#events = events
    this.#thread = new WorkThread<Request, Reply>(options, {
      onReady: () => {
        if (this.gone) return
        this.ready = true
        this.#phaseMs = 0
        events.onReady()
      },
      onAnswers: answers => this.#hear(answers),
      onEnd: why => events.onGone(why),
    })
  }

  get isFree(): boolean {
    return this.ready && !this.#dying && this.sent.size === 0
  }

  get isAtWork(): boolean {
    return this.sent.size > 0 || this.#dying
  }

  /** Whether it has been at its batch for so long. */
  isSlow(busyMs: number): boolean {
    return this.ready && this.sent.size > 0 && this.#phaseMs >= busyMs
  }

  send(batch: readonly OpenJob<Request, Reply>[]): void {
    if (batch.length === 0) return
    this.#phaseMs = 0
    this.#thread.beginBatch()
    for (const [place, job] of batch.entries()) {
      this.sent.set(job.id, job)
      job.drop = () => this.#thread.drop(place)
    }
    try {
      this.#thread.post(batch.map(({ id, request }, place) => ({ id, place, request })))
    } catch {
      for (const [place, job] of batch.entries()) this.#sendAlone(job, place)
    }
  }

  /** One request that cannot be sent must not take the others with it. */
  #sendAlone(job: OpenJob<Request, Reply>, place: number): void {
    try {
      this.#thread.post([{ id: job.id, place, request: job.request }])
    } catch (error) {
      this.sent.delete(job.id)
      const why = `expected a request that can be sent to a worker: ${(error as Error).message}`
      this.#jobs.settle(job, () => job.reject(new WorkFailed(why)))
    }
  }

  #hear(answers: readonly WorkAnswer<Reply>[]): void {
    if (this.gone) return
    for (const answer of answers) {
      const job = this.sent.get(answer.id)
      if (!job) continue
      this.sent.delete(answer.id)
      this.#jobs.settle(job, () =>
        'error' in answer ? job.reject(new WorkFailed(answer.error)) : job.resolve(answer.value),
      )
    }
    if (this.sent.size === 0) this.#events.onIdle()
  }

  /** Fails the job that the thread died of, where it is known; else those that it may have been are sent alone from now on. */
  blame(why: string): void {
    const position = this.#thread.position()
    if (this.#dying) {
      const doomed = this.#doomed
      if (!doomed || doomed.settled) return
      this.#jobs.timeOut(doomed, position?.job === doomed.id ? position.part : null)
      return
    }
    const culprit = position === null ? undefined : this.sent.get(position.job)
    if (culprit) {
      this.#jobs.crash(culprit, why, position!.part)
      return
    }
    const suspects = [...this.sent.values()]
    for (const job of suspects) job.alone = true
    if (suspects.length === 1 && ++suspects[0].deaths > 1) this.#jobs.crash(suspects[0], why, null)
  }

  /**
   * Looks what the thread is at.
   * @param passedMs since the last look, of those in which the pool's thread could look
   * @param othersWait for a thread
   */
  watch(nowMs: number, passedMs: number, othersWait: boolean): void {
    this.#phaseMs += passedMs
    if (this.#dying) {
      if (this.#phaseMs > END_LIMIT_MS) this.#events.onGone('it did not end when it was told to')
      return
    }
    if (!this.ready) {
      if (this.#phaseMs > START_LIMIT_MS) this.#kill(null)
      return
    }
    const position = this.#thread.position()
    const job = position === null ? undefined : this.sent.get(position.job)
    if (!position || !job) {
      this.#seen = null
      return
    }
    if (this.#seen !== job.id) {
      this.#seen = job.id
      this.#chargedMs = Math.min(nowMs - position.sinceMs, passedMs)
      this.#baseMs = null
      return
    }
    this.#chargedMs += passedMs
    if (othersWait && job.settled && this.#chargedMs > UNWANTED_LIMIT_MS) {
      this.#kill(job)
      return
    }
    const coreMs = this.#thread.coreMs()
    if (coreMs !== null) this.#baseMs ??= coreMs - this.#chargedMs
    const computedMs = coreMs === null || this.#baseMs === null ? null : coreMs - this.#baseMs
    if (isOver(job.budgetMs, this.#chargedMs, computedMs)) this.#kill(job)
  }

  #kill(doomed: OpenJob<Request, Reply> | null): void {
    this.#dying = true
    this.#doomed = doomed
    this.#phaseMs = 0
    void this.#thread.end()
  }

  end(): Promise<void> {
    this.gone = true
    return this.#thread.end()
  }
}
