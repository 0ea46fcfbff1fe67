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

/** Lets one side wait until the other has changed something. */
class Bell {
  #wake: (() => void) | null = null

  ring(): void {
    this.#wake?.()
    this.#wake = null
  }

  wait(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve
    })
  }
}

/** What one run of `mapInOrder` shares between its reader and its caller. */
class Line<T, R> {
  readonly held: Promise<R | typeof NOT_BEGUN>[] = []
  /** Rung when something was put in, or nothing more will come. */
  readonly filled = new Bell()
  /** Rung when something was taken out. */
  readonly taken = new Bell()
  ended = false
  failure: { error: unknown } | null = null

  /** Reads the source and begins work, no further than the window. */
  async fill(
    source: AsyncIterable<T> | Iterable<T>,
    begin: (item: T) => Promise<R | typeof NOT_BEGUN>,
    window: number,
  ) {
    try {
      for await (const item of source) {
        if (this.ended) return
        const result = begin(item)
        // Its turn to be reported comes; until then it must not count as unhandled.
        result.catch(() => {})
        this.held.push(result)
        this.filled.ring()
        while (this.held.length >= window && !this.ended) await this.taken.wait()
      }
    } catch (error) {
      this.failure = { error }
    } finally {
      this.end()
    }
  }

  end(): void {
    this.ended = true
    this.filled.ring()
    this.taken.ring()
  }
}

/**
 * Results of `work` on each item of a stream, in the order of the stream, each as soon as it is its turn. The stream is read
 * no further than `window` items ahead. Ends early, without an error, when `stop` is aborted.
 * @throws what `work` or the stream throws, in its turn; what else is under way is left to end by itself.
 */
export async function* mapInOrder<T, R>(
  source: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<R>,
  { concurrency, window = 8 * concurrency, stop }: InOrderOptions,
): AsyncGenerator<R> {
  const gate = new Gate(concurrency)
  const line = new Line<T, R>()
  const begin = async (item: T): Promise<R | typeof NOT_BEGUN> => {
    await gate.enter()
    try {
      return stop?.aborted ? NOT_BEGUN : await work(item)
    } finally {
      gate.leave()
    }
  }
  const onStop = () => line.end()
  stop?.addEventListener('abort', onStop, { once: true })
  if (!stop?.aborted) void line.fill(source, begin, window)
  else line.end()
  try {
    for (;;) {
      const first = line.held.shift()
      if (first !== undefined) {
        line.taken.ring()
        const value = await first
        if (value === NOT_BEGUN) return
        yield value
      } else if (line.ended) {
        if (line.failure) throw line.failure.error
        return
      } else await line.filled.wait()
    }
  } finally {
    stop?.removeEventListener('abort', onStop)
    line.end()
  }
}
