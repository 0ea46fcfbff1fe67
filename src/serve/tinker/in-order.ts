/** @file A model's requests by number: carried out in that order whatever the order of their arrival, and none of them twice. */

import { RequestError } from './errors.ts'

/** Numbers whose requests are remembered. */
const REMEMBERED = 4096

interface Known {
  digest: string
  requestId: string
}

export interface InOrderOptions {
  /** How long a number that is missing is waited for: its request may have been refused on its way. */
  gapMs: number
  /** Called when requests go on without one. */
  onSkipped?: (missing: number, next: number) => void
}

export class InOrder {
  readonly #options: InOrderOptions
  #next = 1
  /** Requests before whose number one is missing. */
  readonly #held = new Map<number, () => void>()
  readonly #known = new Map<number, Known>()
  #tail: Promise<unknown> = Promise.resolve()
  #gap: NodeJS.Timeout | null = null

  constructor(options: InOrderOptions) {
    this.#options = options
  }

  /**
   * Takes a request, or finds the one that was sent before.
   * @param seqId from 1; 0: in order of arrival
   * @param digest of what is asked for
   * @param start begins the request with its turn to wait for, and gives it an id
   * @throws RequestError 409 for a number that has another request, or whose turn is over
   */
  take(seqId: number, digest: string, start: (turn: InTurn) => string): string {
    if (seqId === 0) {
      const { turn, release } = this.#newTurn()
      release()
      return start(turn)
    }
    const known = this.#known.get(seqId)
    if (known?.digest === digest) return known.requestId
    if (known || seqId < this.#next)
      throw new RequestError(
        409,
        `seq_id ${seqId}: expected a number that no request has had, got one ${known ? 'with another request' : `whose turn is over (next: ${this.#next})`}; number the requests of a model from 1`,
      )
    const { turn, release } = this.#newTurn()
    const requestId = start(turn)
    this.#remember(seqId, { digest, requestId })
    this.#held.set(seqId, release)
    this.#releaseAll()
    return requestId
  }

  #newTurn(): { turn: InTurn; release: () => void } {
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    return {
      release: () => release(),
      turn: work => released.then(() => this.#append(work)),
    }
  }

  /** After all that was released before. */
  #append<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work)
    this.#tail = result.catch(() => {})
    return result
  }

  #remember(seqId: number, known: Known): void {
    this.#known.set(seqId, known)
    if (this.#known.size > REMEMBERED) this.#known.delete(this.#known.keys().next().value as number)
  }

  #releaseAll(): void {
    for (let release = this.#held.get(this.#next); release; release = this.#held.get(this.#next)) {
      this.#held.delete(this.#next++)
      release()
    }
    if (this.#gap) clearTimeout(this.#gap)
    this.#gap = null
    if (this.#held.size === 0) return
    this.#gap = setTimeout(() => this.#skip(), this.#options.gapMs)
    this.#gap.unref()
  }

  #skip(): void {
    const next = Math.min(...this.#held.keys())
    this.#options.onSkipped?.(this.#next, next)
    this.#next = next
    this.#releaseAll()
  }

  /** Waits for no number any more: what is held begins, and finds that the model is gone. */
  close(): void {
    if (this.#gap) clearTimeout(this.#gap)
    this.#gap = null
    for (const release of this.#held.values()) release()
    this.#held.clear()
  }
}

/** Does the work when it is the request's turn. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>
