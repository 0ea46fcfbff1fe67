/** @file Runs jobs, several at a time: resumes what was begun, leaves what is done, retries what fails, stops when asked. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { RunError } from '../../runs/errors.ts'
import { type LockHolder, lockHolder } from '../../runs/lock.ts'
import { latestCheckpoint, readMetrics } from '../../runs/readers.ts'
import { clearRun } from '../../runs/run-folder.ts'
import { systemErrorText } from '../../util/file-failure.ts'
import { type Job, runDir, type Training } from '../plan/jobs.ts'
import { isDone, provenanceOf, readRecord, startSetting, writeRecord } from './ledger.ts'
import { distinct, type Provenance } from './provenance.ts'

/** How one training is carried out: by a process of its own, or in this one in tests. */
export interface Launch {
  training: Training
  dir: string
  resume: boolean
}

/** `finished` false: it was asked to stop, and left a checkpoint to go on from. @throws when it fails */
export type Execute = (launch: Launch, stop: AbortSignal) => Promise<{ finished: boolean }>

export interface RunnerEvents {
  onStart?(job: Job, resumed: boolean): void
  /** Its run is being written by another process. */
  onWait?(job: Job, holder: LockHolder): void
  onDone?(job: Job, seconds: number): void
  /** Something to know beforehand: claims that cannot show. */
  onNote?(text: string): void
  /** A cold start came out otherwise than the one that adopted runs began with. */
  onDifference?(text: string): void
  /** `again`: it will be tried once more. */
  onFailure?(job: Job, message: string, again: boolean): void
}

export interface RunnerOptions {
  execute: Execute
  /** Measures a job that is trained. */
  probe(job: Job, stop: AbortSignal): Promise<void>
  /** Whether a job is trained and measured. */
  isComplete(job: Job): boolean
  /** What a training that begins now is made with. */
  provenance(): Provenance
  /** Jobs at a time. */
  width: number
  stop: AbortSignal
  events?: RunnerEvents
}

export interface RunnerResult {
  failed: { job: Job; message: string }[]
  interrupted: boolean
}

const ATTEMPTS = 2

const POLL_MS = 500

/** A run that a killed command left running goes on by itself: wait for it instead of fighting over its folder. */
const untilFree = async (
  dir: string,
  stop: AbortSignal,
  onWait: (holder: LockHolder) => void,
): Promise<void> => {
  const holder = lockHolder(dir)
  if (holder !== null) onWait(holder)
  while (!stop.aborted && lockHolder(dir) !== null) await new Promise(done => setTimeout(done, POLL_MS))
}

/** Folders of the phases that a recipe goes through before the steps of its own. */
const EARLIER_PHASES = ['cold-start', 'sft', 'verifier']

/** Killed before its first checkpoint, or before an earlier phase of its own kept one: nothing of it can be used. */
export const canResume = (dir: string): boolean =>
  latestCheckpoint(dir) !== null || EARLIER_PHASES.some(phase => existsSync(join(dir, phase)))

const stepSeconds = (dir: string): number =>
  readMetrics(dir).reduce((sum, { time }) => sum + (time?.total ?? 0), 0)

class Runner {
  readonly #jobs: readonly Job[]
  readonly #options: RunnerOptions
  readonly #waiting: { job: Job; attempt: number }[]
  readonly #settled = new Set<string>()
  readonly #failed = new Map<string, { job: Job; message: string }>()
  #running = 0

  constructor(jobs: readonly Job[], options: RunnerOptions) {
    this.#jobs = jobs
    this.#options = options
    this.#waiting = jobs.map(job => ({ job, attempt: 1 }))
  }

  async run(): Promise<RunnerResult> {
    const { stop, width } = this.#options
    await new Promise<void>(resolve => {
      const turn = (): void => {
        while (!stop.aborted && this.#running < width) {
          const next = this.#next()
          if (!next) break
          this.#running++
          void this.#attempt(next.job, next.attempt).finally(() => {
            this.#running--
            turn()
          })
        }
        if (this.#running === 0) resolve()
      }
      turn()
    })
    return { failed: [...this.#failed.values()], interrupted: stop.aborted }
  }

  /** The first waiting job whose cold start is there; those whose cold start failed, fail with it. */
  #next(): { job: Job; attempt: number } | undefined {
    for (const { job } of [...this.#waiting]) if (job.needs && this.#failed.has(job.needs)) this.#giveUp(job)
    const index = this.#waiting.findIndex(({ job }) => job.needs === null || this.#settled.has(job.needs))
    return index < 0 ? undefined : this.#waiting.splice(index, 1)[0]
  }

  #giveUp(job: Job): void {
    this.#waiting.splice(
      this.#waiting.findIndex(waiting => waiting.job === job),
      1,
    )
    const message = `its cold start ${job.needs} failed`
    this.#failed.set(job.id, { job, message })
    this.#options.events?.onFailure?.(job, message, false)
  }

  async #attempt(job: Job, attempt: number): Promise<void> {
    const { events, isComplete } = this.#options
    // A start that is there, or a run that ended by itself: nothing to do but to note it down.
    const wasComplete = isComplete(job)
    if (wasComplete && readRecord(job).finished) {
      this.#settled.add(job.id)
      return
    }
    try {
      const trained = await this.#train(job)
      // A probe takes minutes and keeps nothing of a half: asked to stop, it is left to the next call.
      if (!trained || this.#options.stop.aborted) return
      await this.#measure(job)
      this.#settled.add(job.id)
      const { seconds, probeSeconds } = readRecord(job)
      if (!wasComplete) events?.onDone?.(job, seconds + probeSeconds)
    } catch (error) {
      if (this.#options.stop.aborted) return
      const message = error instanceof Error ? (systemErrorText(error) ?? error.message) : String(error)
      writeRecord(job, { ...readRecord(job), error: message })
      const again = attempt < ATTEMPTS
      events?.onFailure?.(job, message, again)
      if (again) this.#waiting.push({ job, attempt: attempt + 1 })
      else this.#failed.set(job.id, { job, message })
    }
  }

  /** Trains or goes on training; false when it was asked to stop first. Notes the time also of an attempt that fails. */
  async #train(job: Job): Promise<boolean> {
    const { execute, stop, events } = this.#options
    const dir = runDir(job)
    await untilFree(dir, stop, holder => events?.onWait?.(job, holder))
    if (stop.aborted) return false
    const startMs = performance.now()
    const before = readRecord(job)
    const note = (finished: boolean) => {
      const noted = before.seconds + (performance.now() - startMs) / 1000
      // What a killed command did not note down, the steps themselves did.
      const seconds = Math.max(noted, stepSeconds(dir))
      const attempts = before.attempts + 1
      writeRecord(job, { ...readRecord(job), finished, seconds, attempts, error: null })
      return finished
    }
    if (isDone(job)) return before.finished || note(true)
    const training = this.#withStart(job)
    const resume = canResume(dir)
    if (!resume) clearRun(dir)
    // Before it begins: a command that is killed leaves a run that goes on, and finishes, by itself.
    const provenance = distinct([...(resume ? provenanceOf(job) : []), this.#options.provenance()])
    writeRecord(job, { ...before, configHash: job.configHash, provenance })
    events?.onStart?.(job, resume)
    try {
      const { finished } = await execute({ training, dir, resume }, stop)
      return note(finished)
    } catch (error) {
      note(false)
      throw error
    }
  }

  async #measure(job: Job): Promise<void> {
    const { probe, isComplete, stop } = this.#options
    if (isComplete(job)) return
    const startMs = performance.now()
    await probe(job, stop)
    writeRecord(job, { ...readRecord(job), probeSeconds: (performance.now() - startMs) / 1000 })
  }

  /** The arm's settings with its cold start's checkpoint as the model. @throws RunError when that is gone */
  #withStart({ training, needs }: Job): Training {
    if (needs === null) return training
    const start = this.#jobs.find(({ id }) => id === needs)!
    const folder = startSetting(start)
    if (folder === null)
      throw new RunError(`${runDir(start)}: the checkpoint of its cold start ${needs} is gone`, {
        hint: `put it back, or remove ${start.dir} to have it trained again`,
      })
    return { ...training, settings: [...training.settings, { model: { folder } }] }
  }
}

/** Runs the jobs that are not done, each cold start before the arms that need it. */
export const runJobs = (jobs: readonly Job[], options: RunnerOptions): Promise<RunnerResult> =>
  new Runner(jobs, options).run()
