/** @file A clock that a test moves: waiting costs nothing and happens in order. */

import type { Clock } from './clock.ts'

interface Timer {
  atMs: number
  order: number
  wake: () => void
}

const settled = async () => {
  // Promises of promises: a few turns of the microtask queue bring all of them to rest.
  for (let turn = 0; turn < 12; turn++) await Promise.resolve()
}

export class VirtualClock implements Clock {
  #nowMs = 0
  #order = 0
  readonly #timers = new Set<Timer>()

  now = () => this.#nowMs
  date = () => 1_700_000_000_000 + this.#nowMs

  after(delayMs: number, wake: () => void): () => void {
    const timer = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, wake }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  get timers(): number {
    return this.#timers.size
  }

  /** Lets time pass: every timer due until then wakes at its own moment. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    for (;;) {
      await settled()
      let next: Timer | null = null
      for (const timer of this.#timers)
        if (
          timer.atMs <= endMs &&
          (next === null || timer.atMs < next.atMs || (timer.atMs === next.atMs && timer.order < next.order))
        )
          next = timer
      if (next === null) break
      this.#timers.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.wake()
    }
    this.#nowMs = endMs
    await settled()
  }
}
