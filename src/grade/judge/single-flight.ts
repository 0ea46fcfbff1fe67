/** @file Identical requests at the same time share one call; it is cancelled when nobody waits for it any more. */

interface Flight<T> {
  promise: Promise<T>
  controller: AbortController
  waiting: number
}

/** A share in a call that is under way. */
export interface CallHandle<T> {
  promise: Promise<T>
  /** Whether the call was under way already. */
  shared: boolean
  /** Gives the share up: the last to leave cancels the call. Once is enough; after the end it does nothing. */
  leave(): void
}

/** Calls under way by key. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>()
  /** Requests that found their call under way. */
  shared = 0

  /** Joins the call of this key, or starts it. A null key never shares. */
  join(key: string | null, start: (signal: AbortSignal) => Promise<T>): CallHandle<T> {
    const known = key === null ? undefined : this.#flights.get(key)
    if (known) {
      this.shared++
      known.waiting++
      return this.#handle(key, known, true)
    }
    const controller = new AbortController()
    const flight = { promise: start(controller.signal), controller, waiting: 1 }
    if (key !== null) {
      this.#flights.set(key, flight)
      const landed = () => this.#remove(key, flight)
      flight.promise.then(landed, landed)
    }
    return this.#handle(key, flight, false)
  }

  #handle(key: string | null, flight: Flight<T>, shared: boolean): CallHandle<T> {
    let waits = true
    const leave = () => {
      if (!waits) return
      waits = false
      if (--flight.waiting > 0) return
      // Who comes now must not join a call that is being cancelled.
      if (key !== null) this.#remove(key, flight)
      flight.controller.abort()
    }
    return { promise: flight.promise, shared, leave }
  }

  #remove(key: string, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key)
  }
}
