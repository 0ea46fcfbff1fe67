/** @file The rows of a run on their way to one tracker, batch by batch, each once, in the order of the steps. */

import { Feed } from './feed.ts'
import type { TrackerLedger } from './ledger.ts'
import type { EndStatus, RunFacts, TrackedPoint, Tracker } from './tracker.ts'

export class Shipment {
  readonly tracker: Tracker
  readonly #dir: string
  readonly #facts: RunFacts
  /** Null where the tracker itself knows what it holds. */
  readonly #ledger: TrackerLedger | null
  #feed: Feed
  #open = false
  /** Taken from the feed and not yet delivered. */
  #batch: TrackedPoint[] | null = null
  #announced = false
  #passed = 0
  #lastStep = Number.NEGATIVE_INFINITY
  #lastMs: number
  /** Rows that were sent, and runs that were begun anew there because steps had other figures. */
  sent = 0
  replaced = 0

  constructor(dir: string, facts: RunFacts, tracker: Tracker, ledger: TrackerLedger | null) {
    this.#dir = dir
    this.#facts = facts
    this.tracker = tracker
    this.#ledger = ledger
    this.#feed = this.#newFeed()
    this.#lastMs = facts.createdAtMs
  }

  /**
   * Delivers some rows; false where there are none for now. After an error the same rows are tried again.
   * @throws TrackerError; DataError for a broken row; RunError for a ledger that cannot be written
   */
  async next(): Promise<boolean> {
    try {
      if (!this.#open) await this.#begin()
      this.#batch ??= this.#feed.next(this.tracker.mostPoints)
      if (this.#batch.length === 0) {
        this.#batch = null
        return false
      }
      if (this.#batch.some(point => this.#ledger?.contradicts(point))) await this.#replace()
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
    if (status === 'finished' && this.#ledger !== null && this.#ledger.lastStep > this.#lastStep) {
      await this.#replace()
      while (await this.next());
    }
    await this.tracker.end(status, this.#lastMs)
  }

  /** Rows of the run, and those of them that have not arrived for certain. @throws DataError for a broken row */
  count(): { rows: number; missing: number } {
    const feed = this.#newFeed()
    let rows = 0
    for (let points = feed.next(COUNTED); points.length > 0; points = feed.next(COUNTED))
      rows += points.length
    return { rows, missing: Math.max(0, rows - (this.#ledger?.arrived ?? this.#passed)) }
  }

  async #begin(): Promise<void> {
    const opened = await this.tracker.open(this.#facts, this.#ledger?.identity ?? '')
    if (opened === 'new') {
      this.#ledger?.forget()
      this.#restart()
    }
    this.#open = true
  }

  async #send(batch: readonly TrackedPoint[]): Promise<void> {
    const points = this.#ledger?.fresh(batch, this.tracker.takesOnce) ?? batch
    if (points.length > 0) {
      if (!this.#announced) this.#ledger?.sending(points)
      this.#announced = true
      await this.tracker.log(points)
      this.#ledger?.arrivedAll()
      this.sent += points.length
    }
    this.#passed += batch.length
    this.#lastStep = Math.max(this.#lastStep, ...batch.map(({ step }) => step))
    this.#lastMs = batch.at(-1)!.atMs
    this.#batch = null
    this.#announced = false
  }

  async #replace(): Promise<void> {
    await this.tracker.replace()
    this.#ledger?.begin()
    this.#open = false
    this.replaced++
    this.#restart()
  }

  #restart(): void {
    this.#feed = this.#newFeed()
    this.#batch = null
    this.#announced = false
    this.#passed = 0
    this.#lastStep = Number.NEGATIVE_INFINITY
    this.#lastMs = this.#facts.createdAtMs
  }

  #newFeed(): Feed {
    return new Feed(this.#dir, this.#facts.createdAtMs)
  }
}

const COUNTED = 1000
