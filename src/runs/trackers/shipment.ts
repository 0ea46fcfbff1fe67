/** @file The rows of a run on their way to one tracker, batch by batch, each once, in the order of the steps. */

import type { Delivered } from './delivered.ts'
import { Feed } from './feed.ts'
import type { EndStatus, RunFacts, TrackedPoint, Tracker } from './tracker.ts'

export class Shipment {
  readonly tracker: Tracker
  readonly #dir: string
  readonly #facts: RunFacts
  readonly #delivered: Delivered
  #feed: Feed
  #open = false
  /** Taken from the feed and not yet delivered. */
  #batch: TrackedPoint[] = []
  #lastMs: number
  /** Rows that were sent, and runs that were begun anew there because steps had other metrics. */
  sent = 0
  replaced = 0

  constructor(dir: string, facts: RunFacts, tracker: Tracker, delivered: Delivered) {
    this.#dir = dir
    this.#facts = facts
    this.tracker = tracker
    this.#delivered = delivered
    this.#feed = this.#newFeed()
    this.#lastMs = facts.createdAtMs
  }

  /**
   * Delivers some rows; false where there are none for now. After an error the same rows are tried again.
   * @throws TrackerError, also where it cannot be noted what has arrived; DataError for a broken row
   */
  async next(): Promise<boolean> {
    try {
      if (!this.#open) await this.#begin()
      if (this.#batch.length === 0) this.#batch = this.#feed.next(this.tracker.mostPoints)
      if (this.#batch.length === 0) return false
      if (this.#batch.some(point => this.#delivered.contradicts(point))) await this.#replace()
      else await this.#send(this.#batch)
      return true
    } catch (error) {
      this.#open = false
      throw error
    }
  }

  /** Delivers what there is, and the end. @throws as `next` */
  async finish(status: EndStatus): Promise<void> {
    while (await this.next());
    // The run was cut back, and ended before it came so far again.
    if (status === 'finished' && this.#delivered.exceeds(this.#feed.rows)) {
      await this.#replace()
      while (await this.next());
    }
    await this.tracker.end(status, this.#lastMs)
  }

  /** Rows of the run, and those of them that have not arrived for certain. @throws DataError for a broken row */
  count(): { rows: number; missing: number } {
    const feed = this.#newFeed()
    while (feed.next(COUNTED).length > 0);
    const rows = feed.rows.metrics + feed.rows.evals
    return { rows, missing: Math.max(0, rows - this.#delivered.rows) }
  }

  async #begin(): Promise<void> {
    const { identity } = this.#delivered
    await this.#delivered.keep()
    if ((await this.tracker.open(this.#facts, identity)) === 'new') await this.#restart(identity)
    this.#open = true
  }

  async #send(batch: readonly TrackedPoint[]): Promise<void> {
    const points = this.#delivered.fresh(batch, this.tracker.takesOnce)
    if (points.length > 0) {
      await this.#delivered.sending(points)
      await this.tracker.log(points)
      await this.#delivered.arrived(points)
      this.sent += points.length
    }
    this.#lastMs = batch.at(-1)!.atMs
    this.#batch = []
  }

  async #replace(): Promise<void> {
    await this.tracker.replace()
    this.#open = false
    this.replaced++
    await this.#restart()
  }

  /** From the first row on. @param identity of the run there; none: a new one */
  async #restart(identity?: string): Promise<void> {
    await this.#delivered.begin(identity)
    this.#feed = this.#newFeed()
    this.#batch = []
    this.#lastMs = this.#facts.createdAtMs
  }

  #newFeed(): Feed {
    return new Feed(this.#dir, this.#facts.createdAtMs)
  }
}

const COUNTED = 1000
