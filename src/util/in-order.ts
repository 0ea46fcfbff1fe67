/** @file Work on a stream: so many at a time, results in the order of the stream, little of it in memory. */

export interface InOrderOptions {
  /** Most pieces of work at a time. */
  concurrency: number
  /** Most results and pieces of work held, those that wait for an earlier one included. Default 8 x concurrency. */
  window?: number
  /** Once aborted nothing new is begun; what is under way is finished and given out. */
  stop?: AbortSignal
}

const NOT_BEGUN = Symbol('not begun')

/** A gate that lets so many through at a time, in the order in which they came. */
class Gate {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(size: number) {
    this.#free = size
  }

  async enter(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free++
  }
}

/**
 * Results of `work` on each item of a stream, in the order of the stream. The stream is read no faster than results are
 * taken. Ends early, without an error, when `stop` is aborted.
 * @throws what `work` throws, in its turn; what else is under way is left to end by itself.
 */
export async function* mapInOrder<T, R>(
  source: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<R>,
  { concurrency, window = 8 * concurrency, stop }: InOrderOptions,
): AsyncGenerator<R> {
  const gate = new Gate(concurrency)
  const begin = async (item: T): Promise<R | typeof NOT_BEGUN> => {
    await gate.enter()
    try {
      return stop?.aborted ? NOT_BEGUN : await work(item)
    } finally {
      gate.leave()
    }
  }
  const held: Promise<R | typeof NOT_BEGUN>[] = []
  for await (const item of source) {
    if (stop?.aborted) break
    const result = begin(item)
    // Its turn to be reported comes; until then it must not count as unhandled.
    result.catch(() => {})
    held.push(result)
    if (held.length < window) continue
    const first = await (held.shift() as (typeof held)[number])
    if (first === NOT_BEGUN) return
    yield first
  }
  for (const result of held) {
    const value = await result
    if (value === NOT_BEGUN) return
    yield value
  }
}
