/** @file The caller's end of one worker thread of a pool. */

import { Worker } from 'node:worker_threads'
import { coreMs } from './thread-clock.ts'
import { WorkPlace, type WorkPosition } from './work-place.ts'
import type { ThreadData, ThreadMessage, WorkAnswer, WorkJob } from './work-serve.ts'

export interface ThreadOptions {
  entry: URL
  /** Megabytes of JavaScript heap that a thread may fill; beyond, it ends. */
  heapMb: number
  /** Jobs sent at once. */
  maxBatch: number
  data: unknown
}

export interface ThreadEvents<Reply> {
  onReady(): void
  onAnswers(answers: readonly WorkAnswer<Reply>[]): void
  /** Once, when the thread is gone and everything that it sent has been heard. */
  onEnd(why: string): void
}

/** Never keeps the process alive by itself; that is for whoever waits for its answers. */
export class WorkThread<Request, Reply> {
  readonly #worker: Worker
  readonly #place: WorkPlace
  #clock: string | null = null

  constructor({ entry, heapMb, maxBatch, data }: ThreadOptions, events: ThreadEvents<Reply>) {
    this.#place = new WorkPlace(maxBatch)
    this.#worker = new Worker(entry, {
      execArgv: [],
      workerData: { place: this.#place.buffer, data } satisfies ThreadData,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
    let why = ''
    this.#worker
      .on('message', (message: ThreadMessage<Reply>) => {
        if ('answers' in message) {
          events.onAnswers(message.answers)
          return
        }
        this.#clock = message.ready
        events.onReady()
      })
      .on('error', error => {
        why = error instanceof Error ? error.message : String(error)
      })
      .on('exit', code => events.onEnd(why || `it ended with exit code ${code}`))
    // Not before: who listens to a worker holds on to it again.
    this.#worker.unref()
  }

  /** @throws DataCloneError for a request that cannot be sent. */
  post(jobs: readonly WorkJob<Request>[]): void {
    this.#worker.postMessage(jobs)
  }

  /** What it was sent is answered: the next batch begins. */
  beginBatch(): void {
    this.#place.keepAll()
  }

  /** Nobody waits for a job any more: if it has not begun, it never does. */
  drop(place: number): void {
    this.#place.drop(place)
  }

  /** What it is at, now; also when it is gone. */
  position(): WorkPosition | null {
    return this.#place.read()
  }

  /** Milliseconds that it had a core so far; null where that is not known. */
  coreMs(): number | null {
    return coreMs(this.#clock)
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }
}
