/** @file The worker's side of a work pool: takes batches of jobs, notes which one it is at, answers each by itself. */

import { parentPort, workerData } from 'node:worker_threads'
import { threadFile } from './thread-clock.ts'
import { WorkPlace } from './work-place.ts'

export interface WorkJob<Request> {
  id: number
  /** In its batch. */
  place: number
  request: Request
}

/** A reply, or the words of the error that the job threw. */
export type WorkAnswer<Reply> = { id: number; value: Reply } | { id: number; error: string }

/** `ready` names the file with the thread's core time. */
export type ThreadMessage<Reply> = { ready: string | null } | { answers: WorkAnswer<Reply>[] }

/** What a thread is started with. */
export interface ThreadData {
  place: SharedArrayBuffer
  /** Whatever the pool was given for its workers. */
  data: unknown
}

/** Answers wait for company no longer than this: a job that hangs behind them must not hold them for long. */
const FLUSH_MS = 2

/** A turn of the event loop later, so that a rejection which the job left behind strikes while the job is still at hand. */
const settled = async <T>(given: Promise<T>): Promise<T> => {
  const value = await given
  await new Promise(resolve => setImmediate(resolve))
  return value
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * What the pool was given for its workers as `data`.
 * @public Workers that a test writes as text import it.
 */
export const workData = (): unknown => (workerData as ThreadData).data

/**
 * Serves jobs, one after the other, in this worker. `answer` may tell which part of a job it is at; a part that runs over the
 * budget is named in the error. What it throws fails that job alone.
 */
export const serveWork = <Request, Reply>(
  answer: (request: Request, reach: (part: number) => void) => Reply | Promise<Reply>,
): void => {
  const port = parentPort!
  const place = new WorkPlace((workerData as ThreadData).place)
  const reach = (part: number) => place.reach(part)
  let answers: WorkAnswer<Reply>[] = []
  let flushedMs = 0

  const post = (batch: WorkAnswer<Reply>[]) =>
    port.postMessage({ answers: batch } satisfies ThreadMessage<Reply>)
  const flush = () => {
    const batch = answers
    answers = []
    flushedMs = performance.now()
    try {
      post(batch)
    } catch {
      for (const each of batch) postAlone(each)
    }
  }
  /** One reply that cannot be sent must not take the others with it. */
  const postAlone = (each: WorkAnswer<Reply>) => {
    try {
      post([each])
    } catch (error) {
      post([{ id: each.id, error: `its reply cannot be sent: ${messageOf(error)}` }])
    }
  }

  const serveOne = async ({ id, place: at, request }: WorkJob<Request>): Promise<void> => {
    if (place.isDropped(at)) {
      answers.push({ id, error: 'nobody waits for it' })
      return
    }
    place.begin(id)
    try {
      const given = answer(request, reach)
      answers.push({ id, value: given instanceof Promise ? await settled(given) : given })
    } catch (error) {
      answers.push({ id, error: messageOf(error) })
    }
  }

  port.on('message', async (jobs: WorkJob<Request>[]) => {
    flushedMs = performance.now()
    for (const job of jobs) {
      await serveOne(job)
      if (performance.now() - flushedMs > FLUSH_MS) flush()
    }
    if (answers.length > 0) flush()
    place.leave()
  })
  port.postMessage({ ready: threadFile() } satisfies ThreadMessage<Reply>)
}
