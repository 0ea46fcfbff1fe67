/** @file One listener a signal, however many requests share it: Node walks all listeners of a signal to add one more. */

export class SignalWatch<T> {
  readonly #waiting = new Map<AbortSignal, { items: Set<T>; listener: () => void }>()
  readonly #onAbort: (items: readonly T[], signal: AbortSignal) => void

  /** @param onAbort called with all items that wait on a signal when that is aborted */
  constructor(onAbort: (items: readonly T[], signal: AbortSignal) => void) {
    this.#onAbort = onAbort
  }

  add(signal: AbortSignal | undefined, item: T): void {
    if (!signal) return
    const known = this.#waiting.get(signal)
    if (known) {
      known.items.add(item)
      return
    }
    const items = new Set([item])
    const listener = () => {
      this.#waiting.delete(signal)
      this.#onAbort([...items], signal)
    }
    signal.addEventListener('abort', listener, { once: true })
    this.#waiting.set(signal, { items, listener })
  }

  remove(signal: AbortSignal | undefined, item: T): void {
    const known = signal && this.#waiting.get(signal)
    if (!known) return
    known.items.delete(item)
    if (known.items.size > 0) return
    signal.removeEventListener('abort', known.listener)
    this.#waiting.delete(signal)
  }
}
