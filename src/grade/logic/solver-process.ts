/** @file The caller's end of the solver worker: starts it, sends scripts one at a time, replaces it when it dies or hangs. */

import { Worker } from 'node:worker_threads'
import { GradusError } from '../../util/errors.ts'
import { asMemoryError } from '../../util/memory-failure.ts'
import { workerUrl } from '../../util/worker-url.ts'
import type { ScriptReply, ScriptRequest, WorkerMessage } from './solver-worker.ts'

/** Z3 could not be started, died, or did not come back in time. */
export class SolverError extends GradusError {}

/** Z3 kept on beyond every limit of its own: this says something about the question, unlike a crash. */
export class SolverTimeout extends SolverError {}

const START_LIMIT_MS = 30_000

/** Z3 as the first worker compiled it. */
let compiled: object | null = null

const startWorker = (): Promise<Worker> =>
  new Promise((resolve, reject) => {
    const url = workerUrl(import.meta.url, './solver-worker.js')
    const worker = new Worker(url, { execArgv: [], workerData: compiled })
    const refuse = (said: string) => {
      const { message: why } = asMemoryError(new Error(said)) as Error
      clearTimeout(timer)
      void worker.terminate()
      reject(
        new SolverError(`Z3 did not start: ${why}`, {
          hint: 'check that z3-solver is installed and dist/ is built, or use backend "ground"',
        }),
      )
    }
    const timer = setTimeout(() => refuse(`no answer within ${START_LIMIT_MS} ms`), START_LIMIT_MS)
    // This listener stays: an idle worker that dies must not take the process down.
    worker.on('error', error => refuse(error.message))
    worker.once('message', (message: WorkerMessage) => {
      if (!('ready' in message)) return
      if (!message.ready) return refuse(message.error)
      clearTimeout(timer)
      compiled = message.compiled
      // Idle, the solver does not keep the process alive; a pending request does.
      worker.unref()
      resolve(worker)
    })
  })

const awaitReply = (worker: Worker, request: ScriptRequest, limitMs: number): Promise<ScriptReply> =>
  new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      clearTimeout(timer)
      worker.off('error', onError).off('exit', onExit).off('message', onMessage)
      finish()
    }
    const refuse = (why: string) => settle(() => reject(new SolverError(why)))
    const giveUp = () => settle(() => reject(new SolverTimeout(`Z3 gave no answer within ${limitMs} ms`)))
    const onError = (error: Error) =>
      refuse(`the Z3 worker stopped: ${(asMemoryError(error) as Error).message}`)
    const onExit = (code: number) => refuse(`the Z3 worker stopped with exit code ${code}`)
    const onMessage = (reply: ScriptReply) => {
      if (reply.id === request.id) settle(() => resolve(reply))
    }
    const timer = setTimeout(giveUp, limitMs)
    worker.on('error', onError).on('exit', onExit).on('message', onMessage)
    worker.postMessage(request)
  })

export class SolverProcess {
  #worker: Worker | null = null
  #tail: Promise<unknown> = Promise.resolve()
  #nextId = 0
  #closed = false
  /** Times that a worker had to be replaced. */
  restarts = 0
  /** Milliseconds that Z3 worked. */
  solverMs = 0

  /** @throws SolverError when Z3 cannot be started. */
  static async start(): Promise<SolverProcess> {
    const process = new SolverProcess()
    await process.#open()
    return process
  }

  async #open(): Promise<Worker> {
    const worker = await startWorker()
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = null
    })
    this.#worker = worker
    return worker
  }

  /**
   * Runs one script after those before it.
   * @throws SolverTimeout when Z3 took longer than `limitMs`, SolverError when it died or could not be started; the next call starts a fresh one.
   */
  run(script: string, limitMs: number): Promise<string> {
    const result = this.#tail.then(() => this.#run(script, limitMs))
    this.#tail = result.catch(() => undefined)
    return result
  }

  async #run(script: string, limitMs: number): Promise<string> {
    if (this.#closed) throw new SolverError('the solver is closed', { hint: 'start a new one' })
    if (!this.#worker) this.restarts++
    const worker = this.#worker ?? (await this.#open())
    const id = this.#nextId++
    worker.ref()
    try {
      const reply = await awaitReply(worker, { id, script }, limitMs)
      this.solverMs += reply.elapsedMs
      if (reply.output === undefined) throw new SolverError(`Z3 failed: ${reply.error}`)
      return reply.output
    } catch (error) {
      this.#worker = null
      await worker.terminate()
      throw error
    } finally {
      worker.unref()
    }
  }

  /** Ends the worker and Z3's own threads with it. */
  async close(): Promise<void> {
    this.#closed = true
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  }
}
