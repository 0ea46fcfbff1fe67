/** @file What a judge costs without a judge: everything takes a set time, and only so many things go on at a time. */

export class SlowJudge {
  readonly #latencyMs: number
  #free: number
  readonly #waiting: (() => void)[] = []
  #inside = 0
  /** Things that it has taken so far, and the most that it had at a time. */
  calls = 0
  busiest = 0

  constructor(latencyMs: number, slots: number) {
    this.#latencyMs = latencyMs
    this.#free = slots
  }

  /** Resolves when one more thing is done: its time after it found a free slot, first come, first served. */
  async take(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
    this.calls++
    this.busiest = Math.max(this.busiest, ++this.#inside)
    await new Promise(resolve => setTimeout(resolve, this.#latencyMs))
    this.#inside--
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free++
  }
}
