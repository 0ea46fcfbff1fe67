/** @file Cancelling one call: an AbortSignal for a single listener, at a small part of its cost. */

import { JudgeError } from '../util/errors.ts'

export const cancelledError = (signal: AbortSignal | undefined): JudgeError =>
  new JudgeError('cancelled', 'the judge was not waited for: the caller cancelled', { cause: signal?.reason })

export class Cancellation {
  /** Why the call was cancelled; null while it was not. */
  reason: JudgeError | null = null
  /** Called once, at the moment of cancelling. */
  listener: ((reason: JudgeError) => void) | null = null

  cancel(reason: JudgeError): void {
    if (this.reason !== null) return
    this.reason = reason
    this.listener?.(reason)
  }
}

/** Runs `call` under a cancellation that follows a signal. */
export const underSignal = async <T>(
  signal: AbortSignal | undefined,
  call: (cancellation: Cancellation) => Promise<T>,
): Promise<T> => {
  const cancellation = new Cancellation()
  if (signal === undefined) return call(cancellation)
  const onAbort = () => cancellation.cancel(cancelledError(signal))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await call(cancellation)
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

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
