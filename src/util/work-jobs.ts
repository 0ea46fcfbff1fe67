/** @file The jobs of a pool that have no answer yet, and the queue of those that no thread has. */

import { WorkCrashed, WorkTimeout } from './work-errors.ts'

/** First in, first out, in constant time; `restore` puts what was taken back where it was. */
class WorkQueue<T> {
  #items: T[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  peek(): T | undefined {
    return this.#items[this.#head]
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#head++]
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  restore(items: readonly T[]): void {
    if (items.length === 0) return
    this.#items = [...items, ...this.#items.slice(this.#head)]
    this.#head = 0
  }

  /** Takes everything. */
  drain(): T[] {
    const all = this.#items.slice(this.#head)
    this.#items = []
    this.#head = 0
    return all
  }
}

/** A job without an answer. */
export interface OpenJob<Request, Reply> {
  readonly id: number
  readonly request: Request
  readonly budgetMs: number
  /** A thread has it. */
  sent: boolean
  /** Tells that thread that nobody waits for it. */
  drop: (() => void) | null
  /** Sent by itself, because a thread died with it at hand or near it and it is not known which job it was. */
  alone: boolean
  /** Threads that died while it was their only job, without a word about what they were at. */
  deaths: number
  settled: boolean
  resolve(reply: Reply): void
  reject(error: unknown): void
}

/** Every job is settled once; those that wait leave in the order in which they came. */
export class OpenJobs<Request, Reply> {
  readonly #waiting = new WorkQueue<OpenJob<Request, Reply>>()
  readonly #onLast: () => void
  readonly counts = { jobs: 0, timeouts: 0, crashes: 0 }
  #nextId = 0
  /** Jobs without an answer, and those of them that no thread has. */
  #open = 0
  #unsent = 0

  /** @param onLast called when none is left without an answer */
  constructor(onLast: () => void) {
    this.#onLast = onLast
  }

  get open(): number {
    return this.#open
  }

  get unsent(): number {
    return this.#unsent
  }

  add(
    given: Pick<OpenJob<Request, Reply>, 'request' | 'budgetMs' | 'resolve' | 'reject'>,
    signal?: AbortSignal,
  ): void {
    const job = {
      id: this.#nextId++,
      ...given,
      sent: false,
      drop: null,
      alone: false,
      deaths: 0,
      settled: false,
    }
    this.counts.jobs++
    this.#open++
    this.#unsent++
    this.#waiting.push(job)
    if (signal) this.#heed(job, signal)
  }

  /** An aborted job is not begun; one that a thread is at goes on as long as nobody needs the thread. */
  #heed(job: OpenJob<Request, Reply>, signal: AbortSignal): void {
    const onAbort = () => {
      this.settle(job, () => job.reject(signal.reason))
      if (job.sent) job.drop?.()
      else this.#unsent--
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

  settle(job: OpenJob<Request, Reply>, answer: () => void): void {
    if (job.settled) return
    job.settled = true
    if (--this.#open === 0) this.#onLast()
    answer()
  }

  /** @param part that it was at, where it said so */
  timeOut(job: OpenJob<Request, Reply>, part: number | null): void {
    this.counts.timeouts++
    const error = new WorkTimeout(`it was not done within ${job.budgetMs} ms`, part)
    this.settle(job, () => job.reject(error))
  }

  crash(job: OpenJob<Request, Reply>, why: string, part: number | null): void {
    this.counts.crashes++
    this.settle(job, () => job.reject(new WorkCrashed(`its worker stopped: ${why}`, part)))
  }

  /** Takes at most so many that wait, to be sent together; one that is to be `alone` by itself. */
  takeBatch(most: number): OpenJob<Request, Reply>[] {
    const batch: OpenJob<Request, Reply>[] = []
    while (batch.length < most) {
      const next = this.#waiting.peek()
      if (next === undefined || (next.alone && batch.length > 0 && !next.settled)) break
      this.#waiting.shift()
      if (next.settled) continue
      next.sent = true
      batch.push(next)
      if (next.alone) break
    }
    this.#unsent -= batch.length
    return batch
  }

  /** Takes back what a thread that is gone left without an answer: it is the next to be sent. */
  giveBack(jobs: Iterable<OpenJob<Request, Reply>>): void {
    const left = [...jobs].filter(({ settled }) => !settled)
    for (const job of left) Object.assign(job, { sent: false, drop: null })
    this.#unsent += left.length
    this.#waiting.restore(left)
  }

  /** Fails all that no thread has. */
  failWaiting(errorOf: () => Error): void {
    this.#unsent = 0
    for (const job of this.#waiting.drain()) this.settle(job, () => job.reject(errorOf()))
  }
}
