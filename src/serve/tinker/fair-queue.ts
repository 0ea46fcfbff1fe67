/** @file Computing in turns: one piece of work at a time, and every party that waits gets its turn before another one's second. */

export class FairQueue {
  /** The party whose turn it is stands first. */
  readonly #waiting = new Map<string, (() => Promise<void>)[]>()
  #running: Promise<void> | null = null

  /** Pieces of work that wait. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0)
  }

  /** Does a party's work after all that it has asked for before. Throws what the work throws. */
  run<T>(party: string, work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const pieces = this.#waiting.get(party) ?? []
      pieces.push(() => work().then(resolve, reject))
      this.#waiting.set(party, pieces)
      this.#running ??= this.#runAll()
    })
  }

  async #runAll(): Promise<void> {
    // Parties that ask in the same turn of the event loop are all there when the first one is chosen.
    await Promise.resolve()
    for (let next = this.#take(); next; next = this.#take()) await next()
    this.#running = null
  }

  #take(): (() => Promise<void>) | null {
    const [first] = this.#waiting
    if (!first) return null
    const [party, [piece, ...rest]] = first
    this.#waiting.delete(party)
    if (rest.length > 0) this.#waiting.set(party, rest)
    return piece
  }
}
