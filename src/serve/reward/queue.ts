/** @file A bounded queue: so many items are graded at once, so many wait, the rest is sent away with a time to come back. */

import { ServiceError } from './errors.ts'

export interface QueueLimits {
  /** Items that are graded at once. */
  concurrency: number
  /** Items that may wait for a place. */
  waiting: number
}

interface Waiting {
  start: () => void
}

/** Weight of the newest item in the running mean of grading times. */
const MEAN_WEIGHT = 0.05

/** First come, first served. Work that was admitted is run; nothing is dropped. */
export class AdmissionQueue {
  private readonly limits: QueueLimits
  private readonly queue = new Set<Waiting>()
  private running = 0
  private meanMs = 0

  constructor(limits: QueueLimits) {
    this.limits = limits
  }

  /** Items that wait. */
  get depth(): number {
    return this.queue.size
  }

  /** Items that are being graded. */
  get active(): number {
    return this.running
  }

  /** How long a newcomer should stay away: what is ahead of it at the present pace, 1 to 60 s. */
  get retryAfterS(): number {
    const waitMs = (this.meanMs * this.depth) / this.limits.concurrency
    return Math.min(60, Math.max(1, Math.ceil(waitMs / 1000)))
  }

  /**
   * Admits `count` items together, or none.
   * @throws ServiceError (429) when they do not fit.
   */
  admit(count: number): void {
    const free = this.limits.concurrency - this.running + this.limits.waiting - this.depth
    if (count <= free) return
    throw new ServiceError(
      'overloaded',
      `${count} items do not fit: ${this.running} are being graded and ${this.depth} wait already, of at most ${this.limits.concurrency} and ${this.limits.waiting} (limits.concurrency, limits.waiting)`,
      {
        hint: `come back in ${this.retryAfterS} s`,
        retryAfterS: this.retryAfterS,
      },
    )
  }

  /** Runs `work` when a place is free. Once `signal` is aborted, work that has not begun is not begun: it rejects with the reason. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.running >= this.limits.concurrency) await this.place(signal)
    else this.running += 1
    const startedMs = performance.now()
    try {
      signal.throwIfAborted()
      return await work()
    } finally {
      const tookMs = performance.now() - startedMs
      this.meanMs += MEAN_WEIGHT * (tookMs - this.meanMs)
      this.release()
    }
  }

  /** Waits for a place that a finished item hands over. */
  private place(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry: Waiting = {
        start: () => {
          signal.removeEventListener('abort', leave)
          resolve()
        },
      }
      const leave = () => {
        this.queue.delete(entry)
        reject(signal.reason)
      }
      if (signal.aborted) {
        reject(signal.reason)
        return
      }
      signal.addEventListener('abort', leave, { once: true })
      this.queue.add(entry)
    })
  }

  private release(): void {
    const [next] = this.queue
    if (next === undefined) {
      this.running -= 1
      return
    }
    this.queue.delete(next)
    next.start()
  }
}
