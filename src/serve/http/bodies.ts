/**
 * @file Bodies of requests, read into what they say. To read JSON or protobuf that nobody vouches for may take seconds and all
 * memory that there is: what is not small is read in a thread that has a budget of both, and that nothing else depends on.
 */

import { DataError } from '../../util/errors.ts'
import { WorkCrashed, WorkTimeout } from '../../util/work-errors.ts'
import { WorkPool } from '../../util/work-pool.ts'

/** Read a body; what they throw as a DataError is the client's fault. They may run in another thread: pure, and results plain. */
export type BodyReaders = Readonly<Record<string, (bytes: Uint8Array) => unknown>>

export interface ReadRequest {
  reader: string
  bytes: Uint8Array
}

/** What a body says, or why it is refused. */
export type ReadReply = { value: unknown } | { refused: string }

/** Up to this length a body is read at once: nothing of that size takes longer than a message to a thread. */
const SMALL_BYTES = 16 * 1024
/** Milliseconds of computing, and megabytes of heap, that the reading of one body may take. */
const BUDGET_MS = 10_000
const HEAP_MB = 768
/** The first of two comes even where the second hangs. */
const THREADS = 2
/** A thread takes a third of a second to start. */
const IDLE_MS = 600_000

const tooMuch = (what: string): DataError =>
  new DataError(`body: expected one that can be read ${what}, got more; send less at a time`)

export class Bodies<Readers extends BodyReaders> {
  readonly #readers: Readers
  readonly #pool: WorkPool<ReadRequest, ReadReply>

  /** @param entry JavaScript that calls `serveBodies` with the same readers; see `workerUrl` */
  constructor(entry: URL, readers: Readers) {
    this.#readers = readers
    // One at a time: what is sent is copied.
    this.#pool = new WorkPool(entry, { threads: THREADS, heapMb: HEAP_MB, maxBatch: 1, idleMs: IDLE_MS })
  }

  /** @throws DataError for a body that cannot be read, or takes more than there is for it */
  async read<K extends keyof Readers & string>(name: K, bytes: Uint8Array): Promise<ReturnType<Readers[K]>> {
    type Read = ReturnType<Readers[K]>
    if (bytes.byteLength <= SMALL_BYTES) return this.#readers[name](bytes) as Read
    const reply = await this.#inThread({ reader: name, bytes })
    if ('refused' in reply) throw new DataError(reply.refused)
    return reply.value as Read
  }

  async #inThread(request: ReadRequest): Promise<ReadReply> {
    try {
      return await this.#pool.run(request, { budgetMs: BUDGET_MS })
    } catch (error) {
      if (error instanceof WorkTimeout) throw tooMuch(`within ${BUDGET_MS / 1000} s`)
      if (error instanceof WorkCrashed) throw tooMuch(`in ${HEAP_MB} MB of memory`)
      throw error
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
