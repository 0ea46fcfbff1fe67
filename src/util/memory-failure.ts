/** @file Memory that ends, in words: what the engines throw then says what they tried, and not what to do. */

import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { GradusError, MemoryError } from './errors.ts'

const HEAP = 'raise the heap, for example NODE_OPTIONS=--max-old-space-size=8192, or do less at a time'
const ROOM =
  'free some memory or do less at a time (a smaller model, micro-batch or context); where `ulimit -v` is set, raise it to unlimited: WebAssembly reserves 10 GB of addresses, whatever it uses'

/** What engines say, and what to do: the JavaScript heap of a thread, memory outside it. */
const SIGNS: readonly (readonly [RegExp, string, string])[] = [
  [/ERR_WORKER_OUT_OF_MEMORY|reached heap limit|JS heap out of memory/i, 'a JavaScript heap is full', HEAP],
  [
    /WebAssembly\.\w+\(\): (?:could not allocate|out of memory)|could not allocate memory|cannot allocate memory|array buffer allocation failed|ERR_MEMORY_ALLOCATION_FAILED|std::bad_alloc|bad allocation|failed to allocate memory|ENOMEM|out of memory/i,
    'there is not enough memory',
    ROOM,
  ],
]

/** An error that says that memory ended, in words; other errors as they are. @param doing what needed it, for the message */
export const asMemoryError = (error: unknown, doing?: string): unknown => {
  if (error instanceof GradusError || !(error instanceof Error)) return error
  const said = `${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}`
  const sign = SIGNS.find(([expression]) => expression.test(said))
  if (sign === undefined) return error
  const [, what, hint] = sign
  return new MemoryError(`${doing === undefined ? '' : `${doing}: `}${what}`, { hint, cause: error })
}

/** Commands that load a model or many rows need more. */
const SMALL_HEAP_MB = 256
const FULL_SHARE = 0.9
const LOOK_MS = 500

const megabytes = (bytes: number) => Math.round(bytes / 1024 ** 2)

/**
 * Tells of a heap that is small, at once, and of one that is nearly full, once: Node ends a process whose heap is full with a stack of its
 * own and no word of ours. The timer keeps no process alive.
 * @returns ends it
 */
export const watchHeap = (tell: (words: string) => void, read = getHeapStatistics): (() => void) => {
  const { heap_size_limit: limit } = read()
  if (megabytes(limit) < SMALL_HEAP_MB)
    tell(`the JavaScript heap may hold ${megabytes(limit)} MB only, and Node ends when it is full; ${HEAP}`)
  const timer = setInterval(() => {
    const { used_heap_size: used } = read()
    if (used < FULL_SHARE * limit) return
    clearInterval(timer)
    tell(`the JavaScript heap is nearly full: ${megabytes(used)} of ${megabytes(limit)} MB; ${HEAP}`)
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Bytes that this process may have: those of the machine, or of the container that it is in. */
export const memoryHere = (): number => {
  // 0 or beyond the machine: no limit is set.
  const constrained = process.constrainedMemory?.() ?? 0
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}
