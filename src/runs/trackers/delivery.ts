/**
 * @file A shipment beside a training: new rows are sent when the training has gone on, what fails is tried again later and
 * later, and nothing of it ever stops or holds up a step. What waits lies in the run's own files, not in memory.
 */

import type { Shipment } from './shipment.ts'
import { type EndStatus, TrackerError } from './tracker.ts'

export interface DeliveryOptions {
  /** Called once, when delivering fails for the first time. */
  tell(message: string): void
  /** Before the first further try; each one waits twice as long. */
  firstWaitMs?: number
  longestWaitMs?: number
  /** Ends what is under way when time is up. */
  abort(): void
}

export class Delivery {
  readonly #shipment: Shipment
  readonly #options: Required<DeliveryOptions>
  #working: Promise<void> | null = null
  /** Rows may have come since the work began. */
  #again = false
  #timer: NodeJS.Timeout | null = null
  #failures = 0
  #error: Error | null = null
  #lasting = false
  #logged = false
  #closing = false

  constructor(shipment: Shipment, options: DeliveryOptions) {
    this.#shipment = shipment
    this.#options = { firstWaitMs: 1000, longestWaitMs: 60_000, ...options }
  }

  /** The run has new rows. Returns at once. */
  poke(): void {
    if (this.#lasting || this.#closing || this.#timer !== null) return
    if (this.#working !== null) this.#again = true
    else this.#start()
  }

  #start(): void {
    // Not now: the training has not yet asked for its next step.
    this.#working = new Promise<void>(resolve => setImmediate(resolve))
      .then(() => this.#work())
      .finally(() => {
        this.#working = null
      })
  }

  async #work(): Promise<void> {
    try {
      do {
        this.#again = false
        while (!this.#closing && (await this.#shipment.next()));
      } while (this.#again && !this.#closing)
      this.#failures = 0
      this.#error = null
    } catch (error) {
      this.#failed(error as Error)
    }
  }

  #failed(error: Error): void {
    this.#error = error
    this.#failures++
    // Broken rows and full disks are no matter of the tracker's, and as little of the training's.
    this.#lasting = !(error instanceof TrackerError) || error.lasting
    if (this.#closing) return
    if (!this.#logged) {
      this.#logged = true
      const then = this.#lasting
        ? 'nothing more is sent there while this training goes on'
        : 'the training goes on, and it is tried again until its end'
      this.#options.tell(`${this.#shipment.tracker.where}: ${short(error, this.#shipment)}; ${then}`)
    }
    if (!this.#lasting) this.#retryLater(error)
  }

  #retryLater(error: Error): void {
    const { firstWaitMs, longestWaitMs } = this.#options
    const backoffMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (this.#failures - 1))
    const asked = error instanceof TrackerError ? (error.retryAfterMs ?? 0) : 0
    // A little apart from others that failed at the same moment.
    const waitMs = Math.max(asked, backoffMs * (0.75 + Math.random() / 2))
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.poke()
    }, waitMs)
    this.#timer.unref()
  }

  /**
   * Delivers the rest and the end within some time. Null where all has arrived; else what has not, in words.
   */
  async close(status: EndStatus, withinMs: number): Promise<string | null> {
    this.#closing = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (!this.#lasting) await this.#withTime(withinMs, () => this.#finish(status, Date.now() + withinMs))
    return this.#error === null ? null : this.#undelivered()
  }

  async #finish(status: EndStatus, untilMs: number): Promise<void> {
    await this.#working
    for (let waitMs = 250; !this.#lasting; waitMs *= 2) {
      try {
        await this.#shipment.finish(status)
        this.#error = null
        return
      } catch (error) {
        this.#failed(error as Error)
      }
      if (Date.now() + waitMs > untilMs) return
      await new Promise(resolve => setTimeout(resolve, waitMs))
    }
  }

  async #withTime(ms: number, work: () => Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>(resolve => {
      timer = setTimeout(() => resolve('late'), ms)
    })
    const working = work()
    if ((await Promise.race([working, late])) === 'late') {
      this.#error ??= new TrackerError(`not all was delivered within ${ms / 1000} s`)
      this.#lasting = true
      this.#options.abort()
    }
    clearTimeout(timer)
  }

  #undelivered(): string {
    const { tracker } = this.#shipment
    const why = short(this.#error!, this.#shipment)
    return `${tracker.where}: ${this.#missing()}: ${why}`
  }

  #missing(): string {
    try {
      const { rows, missing } = this.#shipment.count()
      return missing === 0
        ? 'the end of the run was not delivered'
        : `${missing} of ${rows} rows were not delivered`
    } catch {
      return 'not all rows were delivered'
    }
  }
}

/** A message without the place that stands before it already. */
const short = ({ message }: Error, { tracker: { where } }: Shipment): string => {
  const place = [where, where.split(' at ').at(-1)!].find(name => message.startsWith(`${name}: `))
  return place === undefined ? message : message.slice(place.length + 2)
}
