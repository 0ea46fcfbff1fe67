/** @file What `gradus experiment` says while it runs: a line for every run that begins or ends, and now and then where the others are. */

import type { Experiment } from '../../experiments/experiment.ts'
import type { Job } from '../../experiments/plan/jobs.ts'
import { runDir } from '../../experiments/plan/jobs.ts'
import type { RunnerEvents } from '../../experiments/run/runner.ts'
import { readMetrics } from '../../runs/readers.ts'
import { formatDuration } from '../../util/format.ts'

/** The parts of an experiment that its progress is read from. */
export type Watched = Pick<Experiment, 'estimator' | 'isComplete' | 'missingMetrics'>

/** Runs take minutes: often enough to see that they move. */
const EVERY_MS = 60_000

/** Last finished step of a job's own training, 0 before it. */
const stepOf = (job: Job): number => {
  try {
    return readMetrics(runDir(job)).at(-1)?.step ?? 0
  } catch {
    return 0
  }
}

/** Says what happens, with the time that is left by what finished runs took. */
export class ExperimentProgress {
  readonly #experiment: Watched
  readonly #chosen: readonly Job[]
  readonly #width: number
  readonly #say: (text: string) => void
  readonly #total: number
  readonly #running = new Set<Job>()
  readonly #warned = new Set<string>()
  readonly #timer: NodeJS.Timeout
  #done = 0

  /** @param width jobs at a time */
  constructor(experiment: Watched, chosen: readonly Job[], width: number, say: (text: string) => void) {
    this.#experiment = experiment
    this.#chosen = chosen
    this.#width = width
    this.#say = say
    this.#total = chosen.filter(job => !experiment.isComplete(job)).length
    for (const warning of experiment.missingMetrics()) this.#warned.add(warning)
    this.#timer = setInterval(() => this.#tellRunning(), EVERY_MS)
    this.#timer.unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  readonly events: RunnerEvents = {
    onStart: (job, resumed) => {
      this.#running.add(job)
      this.#say(`${resumed ? 'going on with' : 'running'} ${job.id}`)
    },
    onWait: (job, { who, advice }) => {
      this.#say(`${job.id}: waiting, for its run is being written by ${who}; ${advice}`)
    },
    onNote: text => this.#warnOnce(text),
    onDifference: text => this.#say(`warning: ${text}`),
    onDone: (job, seconds) => {
      this.#running.delete(job)
      this.#done++
      this.#say(
        `[${this.#done}/${this.#total}] ${job.id}: done in ${formatDuration(seconds)} · ${this.#left()}`,
      )
      this.#warn(job)
    },
    onFailure: (job, message, again) => {
      this.#running.delete(job)
      this.#say(`${job.id}: failed${again ? ', will be tried once more' : ''}: ${message}`)
    },
  }

  #tellRunning(): void {
    if (this.#running.size === 0) return
    const places = [...this.#running].map(job => {
      const step = stepOf(job)
      if (step === 0) return `${job.id} before its first step`
      return `${job.id} at step ${step}${job.steps === null ? '' : ` of ${job.steps}`}`
    })
    this.#say(`[${this.#done}/${this.#total}] ${places.join(', ')} · ${this.#left()}`)
  }

  #warn(job: Job): void {
    if (job.kind !== 'arm') return
    for (const warning of this.#experiment.missingMetrics([job])) this.#warnOnce(warning)
  }

  #warnOnce(warning: string): void {
    if (this.#warned.has(warning)) return
    this.#warned.add(warning)
    this.#say(
      `warning: ${warning}. A corrected registration has another hash and starts anew: better now than later`,
    )
  }

  #left(): string {
    const estimate = this.#experiment.estimator()
    const costs = this.#chosen.map(job => {
      const cost = estimate(job)
      return cost === null ? null : cost * (1 - this.#share(job))
    })
    if (costs.some(cost => cost === null)) return 'time left unknown yet'
    const seconds = (costs as number[]).reduce((a, b) => a + b, 0) / this.#width
    return seconds > 0 ? `about ${formatDuration(seconds)} left` : 'nothing left'
  }

  /** How much of a running job is done; its evaluations and its own cold start are taken as steps are. */
  #share(job: Job): number {
    if (!this.#running.has(job) || !job.steps) return 0
    return Math.min(1, stepOf(job) / job.steps)
  }
}
