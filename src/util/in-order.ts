/** @file Work on a stream: so many at a time, results in the order of the stream, little of it in memory. */

import { pMapIterable, pMapStop } from 'p-map'

export interface OrderedOptions {
  /** Most pieces of work at a time. */
  concurrency: number
  /** Most results and pieces of work held, those that wait for an earlier one included. Default 8 x concurrency. */
  window?: number
  /** Once aborted nothing new is begun; what is under way is finished and given out. */
  stop?: AbortSignal
}

/** A stream that ends when `stop` is aborted, also while it has nothing to give. */
async function* untilStopped<T>(
  source: AsyncIterable<T> | Iterable<T>,
  stop: AbortSignal,
): AsyncGenerator<T> {
  const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
  let onStop = () => {}
  const stopped = () => onStop()
  stop.addEventListener('abort', stopped, { once: true })
  try {
    while (!stop.aborted) {
      const next = await Promise.race([
        iterator.next(),
        // One for each item: a race against a promise that lasts would keep every item.
        new Promise<null>(resolve => {
          onStop = () => resolve(null)
        }),
      ])
      if (next === null || next.done) return
      yield next.value
    }
  } finally {
    stop.removeEventListener('abort', stopped)
    // Not waited for: a stream that is silent may never answer.
    void Promise.resolve(iterator.return?.()).catch(() => {})
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
  { concurrency, window = 8 * concurrency, stop }: OrderedOptions,
): AsyncGenerator<R> {
  const items = stop ? untilStopped(source, stop) : source
  const begin = (item: T) => (stop?.aborted ? pMapStop : work(item))
  const results = pMapIterable(items, begin, { concurrency, backpressure: Math.max(window, concurrency) })
  yield* results as AsyncIterable<R>
}
