/** @file Time as the transport sees it: a test hands in its own and years pass at once. */

export interface Clock {
  /** Milliseconds that never go back. */
  now(): number
  /** Milliseconds since 1970, for dates in headers. */
  date(): number
  /** Calls `wake` once after `delayMs`; returns the function that cancels it. */
  after(delayMs: number, wake: () => void): () => void
}

/** Longest delay of a Node timer; a longer one would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  after: (delayMs, wake) => {
    const timer = setTimeout(wake, Math.min(Math.max(delayMs, 0), LONGEST_DELAY_MS))
    return () => clearTimeout(timer)
  },
}

interface Timer {
  atMs: number
  order: number
  wake: () => void
  /** Place in the heap; -1 once it is out of it. */
  place: number
}

const isBefore = (a: Timer, b: Timer): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)

/** A binary heap whose timers know their places, so that a cancelled one leaves at once: most deadlines never come. */
class TimerHeap {
  readonly #timers: Timer[] = []

  get size(): number {
    return this.#timers.length
  }

  get first(): Timer | undefined {
    return this.#timers[0]
  }

  add(timer: Timer): void {
    this.#rise(timer, this.#timers.length)
  }

  remove(timer: Timer): void {
    const { place } = timer
    if (place < 0) return
    timer.place = -1
    const last = this.#timers.pop()!
    if (last === timer) return
    const parent = this.#timers[(place - 1) >> 1]
    if (place > 0 && isBefore(last, parent)) this.#rise(last, place)
    else this.#sink(last, place)
  }

  #put(timer: Timer, place: number): void {
    this.#timers[place] = timer
    timer.place = place
  }

  #rise(timer: Timer, from: number): void {
    let place = from
    while (place > 0) {
      const above = (place - 1) >> 1
      if (!isBefore(timer, this.#timers[above])) break
      this.#put(this.#timers[above], place)
      place = above
    }
    this.#put(timer, place)
  }

  #sink(timer: Timer, from: number): void {
    let place = from
    for (;;) {
      let below = 2 * place + 1
      if (below >= this.#timers.length) break
      if (below + 1 < this.#timers.length && isBefore(this.#timers[below + 1], this.#timers[below])) below++
      if (!isBefore(this.#timers[below], timer)) break
      this.#put(this.#timers[below], place)
      place = below
    }
    this.#put(timer, place)
  }
}

/** Promises of promises: a few turns of the microtask queue bring all of them to rest. */
const settled = async () => {
  for (let turn = 0; turn < 12; turn++) await Promise.resolve()
}

/** A clock that a test or a simulation moves: waiting costs nothing and happens in order. */
export class VirtualClock implements Clock {
  #nowMs = 0
  #order = 0
  readonly #timers = new TimerHeap()

  now = () => this.#nowMs
  date = () => 1_700_000_000_000 + this.#nowMs

  after(delayMs: number, wake: () => void): () => void {
    const timer = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, wake, place: -1 }
    this.#timers.add(timer)
    return () => this.#timers.remove(timer)
  }

  get timers(): number {
    return this.#timers.size
  }

  /** Lets time pass: every timer due until then wakes at its own moment, those of one moment in the order in which they were set. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    for (;;) {
      await settled()
      const next = this.#timers.first
      if (next === undefined || next.atMs > endMs) break
      this.#timers.remove(next)
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.wake()
    }
    this.#nowMs = endMs
    await settled()
  }
}
