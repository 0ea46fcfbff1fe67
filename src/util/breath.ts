/** @file Long work on one thread that lets others have their turn. */

/** How long work may go on before it lets others have their turn. */
const TURN_MS = 20

/** Gives the event loop a turn now and then, so that a long batch does not keep timers and requests waiting. */
export class Breath {
  #sinceMs = performance.now()

  /** Waits for a turn of the event loop where the last one is more than 20 ms ago; at once otherwise. */
  async take(): Promise<void> {
    if (performance.now() - this.#sinceMs < TURN_MS) return
    await new Promise(resolve => setImmediate(resolve))
    this.#sinceMs = performance.now()
  }
}
