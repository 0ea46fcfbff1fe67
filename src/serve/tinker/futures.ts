/** @file Results that are worked on, by id: held until they were fetched and can hardly be asked for again. */

import { randomUUID } from 'node:crypto'
import type { ForwardBackwardOutput, SampleOutput } from '../../tinker/index.ts'
import { type Failure, failureOf, RequestError } from './errors.ts'

/** What a request came to; what is not JSON alone is written in the dialect that is asked for. */
export type Result =
  | { kind: 'json'; body: Readonly<Record<string, unknown>> }
  | { kind: 'output'; output: ForwardBackwardOutput }
  | { kind: 'sample'; output: SampleOutput }

export type FutureOutcome = { result: Result } | { failure: Failure }

interface Future {
  /** Null: nobody whose end would be noticed. */
  owner: string | null
  outcome: Promise<FutureOutcome>
  /** Null: not yet. */
  doneAtMs: number | null
  /** When it was handed out first. */
  fetchedAtMs: number | null
}

export interface FuturesOptions {
  /** Futures that are not done; more are refused. */
  mostPending: number
  /** How long a result stays after it was fetched: the answer may be lost on its way. */
  keptMs: number
  /** How long one stays that belongs to no session and was not fetched. */
  unfetchedMs: number
  nowMs?: () => number
  /** Called with failures that are not the client's. */
  onFailure?: (error: unknown) => void
}

export class Futures {
  readonly #futures = new Map<string, Future>()
  readonly #options: Required<FuturesOptions>
  #pending = 0
  #isClosed = false

  constructor(options: FuturesOptions) {
    this.#options = { nowMs: () => performance.now(), onFailure: () => {}, ...options }
  }

  get pending(): number {
    return this.#pending
  }

  /** The server is being stopped: nothing new is taken from now on. */
  refuseNew(): void {
    this.#isClosed = true
  }

  /** @throws RequestError 503 while the server is being stopped, 429 where too many are pending already */
  assertOpen(): void {
    if (this.#isClosed)
      throw new RequestError(503, 'the server is being stopped and takes nothing new; come back later')
    const { mostPending } = this.#options
    if (this.#pending >= mostPending)
      throw new RequestError(429, `${this.#pending} requests are under way; come back later`)
  }

  /** Takes a request on. @param owner as of `create` @throws RequestError as `assertOpen` */
  begin(owner: string | null, work: () => Promise<Result>): string {
    this.assertOpen()
    return this.create(owner, work())
  }

  /** Keeps what a request comes to. @param owner its session; null for none */
  create(owner: string | null, work: Promise<Result>): string {
    const id = randomUUID()
    this.#pending++
    const outcome = work.then(
      (result): FutureOutcome => ({ result }),
      (error): FutureOutcome => {
        const failure = failureOf(error)
        if (failure.category !== 'user') this.#options.onFailure(error)
        return { failure }
      },
    )
    const future: Future = { owner, outcome, doneAtMs: null, fetchedAtMs: null }
    this.#futures.set(id, future)
    void outcome.then(() => {
      future.doneAtMs = this.#options.nowMs()
      this.#pending--
    })
    return id
  }

  /**
   * What a request came to, or null when it is not done after `holdMs`.
   * @throws RequestError 404 for an id that there is not
   */
  async outcome(id: string, holdMs: number, signal?: AbortSignal): Promise<FutureOutcome | null> {
    const future = this.#futures.get(id)
    if (!future)
      throw new RequestError(404, `Future not found: ${id}`, {
        hint: 'the server was started anew, the session has ended, or the result was fetched long ago',
      })
    const outcome = await withinTime(future.outcome, holdMs, signal)
    if (outcome) future.fetchedAtMs ??= this.#options.nowMs()
    return outcome
  }

  /** Lets go of results that were fetched a while ago, and of those that nobody comes for. */
  sweep(): void {
    const { keptMs, unfetchedMs } = this.#options
    const nowMs = this.#options.nowMs()
    const isOver = (sinceMs: number | null, afterMs: number) => sinceMs !== null && sinceMs < nowMs - afterMs
    for (const [id, { owner, doneAtMs, fetchedAtMs }] of this.#futures)
      if (isOver(fetchedAtMs, keptMs) || (owner === null && isOver(doneAtMs, unfetchedMs)))
        this.#futures.delete(id)
  }

  /** Lets go of all that is done for a session which has ended; what is not yet done is nobody's now. */
  drop(owner: string): void {
    for (const [id, future] of this.#futures)
      if (future.owner === owner) {
        future.owner = null
        if (future.doneAtMs !== null) this.#futures.delete(id)
      }
  }

  /** Resolves when nothing is pending. */
  async settled(): Promise<void> {
    while (this.#pending > 0)
      await Promise.all([...this.#futures.values()].map(({ outcome }) => outcome.then(() => {})))
  }
}

/** Null when the time is over, or nobody waits any more. */
const withinTime = async <T>(work: Promise<T>, ms: number, signal?: AbortSignal): Promise<T | null> => {
  let stop = () => {}
  const over = new Promise<null>(resolve => {
    const timer = setTimeout(() => resolve(null), ms)
    timer.unref()
    stop = () => {
      clearTimeout(timer)
      resolve(null)
    }
  })
  signal?.addEventListener('abort', stop)
  try {
    return await Promise.race([work, over])
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
  }
}
