/** @file One experiment from its registration to its results: plan, calibration, runs, analysis, report. */

import { join } from 'node:path'
import { RunError } from '../runs/errors.ts'
import { lockHolder, takeLock } from '../runs/lock.ts'
import { UsageError } from '../util/errors.ts'
import { missingMetrics } from './analysis/missing-metrics.ts'
import { reachWarnings } from './analysis/reach.ts'
import { estimateSeconds, fitBudget, wallSeconds } from './plan/estimate.ts'
import { type Job, jobsOf, type ResolveTraining, type WorkFolders, workFolders } from './plan/jobs.ts'
import { ADVISED_PROBLEMS, type Registration } from './plan/registration.ts'
import { missingProbes, runProbes } from './probes/run.ts'
import { writePaperReport, writePaperSummary } from './report/report.ts'
import { type AdoptedJobs, Adoption } from './results/adoption.ts'
import { foreignResults, writeResults } from './results/files.ts'
import { analysePaper, type PaperContext, type PaperResult } from './results/paper.ts'
import { readRegistered, register } from './results/registered.ts'
import { writeSlimRuns } from './results/slim-runs.ts'
import { calibrate, readPaces } from './run/calibration.ts'
import { finishedRuns, finishedStarts, type TrainedRun } from './run/finished.ts'
import { earlierFailures, isDone, provenanceOf, readRecord } from './run/ledger.ts'
import { refuseOtherSettings } from './run/other-settings.ts'
import { countTrained, provenanceNow } from './run/provenance.ts'
import {
  type Execute,
  type RunnerEvents,
  type RunnerOptions,
  type RunnerResult,
  runJobs,
} from './run/runner.ts'
import { isLookedAt, type Looks, lookAtStart, startDifference, untestableClaims } from './run/start-look.ts'

export interface ExperimentOptions {
  work: string
  results: string
  /** Jobs at a time. */
  width: number
  budgetMinutes?: number
  resolve: ResolveTraining
  execute: Execute
  /** Measures a finished job. */
  probe: RunnerOptions['probe']
  /** Whether runs that lie in the results count as done. */
  adopt?: boolean
  /** As a person would give it; results and records of runs name it. */
  command: string
}

/** What is to be done, and how long it may take. */
export interface ExperimentPlan {
  jobs: Job[]
  /** Jobs of this call: those of the blocks that fit the budget. */
  chosen: Job[]
  done: number
  blocks: { chosen: number; all: number }
  /** Seconds on the wall that are left for `chosen`, and for everything; null where nothing is known yet. */
  secondsChosen: number | null
  secondsAll: number | null
  /** Null where none were asked for. */
  adopted: AdoptedJobs | null
  warnings: string[]
}

/** What an analysis left. */
export interface ExperimentReport {
  result: PaperResult
  /** Where the results lie, and the path of the report there. */
  folder: string
  report: string
  /** Files of results in that folder that belong to no claim of this registration. */
  foreign: string[]
  /** Null where none were asked for. */
  adopted: AdoptedJobs | null
}

export class Experiment {
  readonly registration: Registration
  readonly #options: ExperimentOptions
  readonly #folders: WorkFolders
  readonly jobs: Job[]
  readonly #adoption: Adoption | null

  /**
   * @throws ConfigError for settings that an arm's recipe does not take; what `Adoption` throws for results whose runs cannot be
   * adopted
   */
  constructor(registration: Registration, options: ExperimentOptions) {
    this.registration = registration
    this.#options = options
    this.#folders = workFolders(options.work, registration)
    this.jobs = jobsOf(registration, this.#folders, options.resolve)
    this.#adoption = options.adopt ? new Adoption(this.#results, registration, this.jobs) : null
  }

  get folder(): string {
    return this.#folders.registration
  }

  get #results(): string {
    return join(this.#options.results, this.registration.paper)
  }

  get #looks(): Looks {
    const { registration, jobs, folder } = this
    return { registration, jobs, folder, adopted: job => this.#adoption?.runOf(job) }
  }

  /** Jobs of which nothing need be here, for their runs stand in the results; null where none were asked for. */
  get adopted(): AdoptedJobs | null {
    return this.#adoption?.jobsCovered() ?? null
  }

  /**
   * Whether nothing is left to do of a job: trained, and measured by its probes; a cold start looked at for claims against it. Or
   * adopted from results.
   */
  isComplete(job: Job): boolean {
    if (this.#adoption?.covers(job)) return true
    // A look at it would come after its runs, and cannot be had.
    if (job.kind === 'start' && job.missing)
      return this.jobs.every(each => each.needs !== job.id || this.isComplete(each))
    if (job.kind === 'start' && !isLookedAt(this.#looks, job)) return false
    return isDone(job) && missingProbes(this.registration.probes, job).length === 0
  }

  /** Measures one finished job. @throws UsageError for an id that is none */
  async probe(id: string): Promise<void> {
    const job = this.jobs.find(each => each.id === id)
    if (!job) throw new UsageError(`--probe: expected the id of a job, got ${JSON.stringify(id)}`)
    await runProbes(this.registration.probes, job)
  }

  /** Seconds still to spend on a job: 0 for one that is done, or a start that is there; null where nothing is known. */
  estimator(): (job: Job) => number | null {
    const known = new Map(
      this.jobs.flatMap(job => {
        const { finished, seconds, probeSeconds } = readRecord(job)
        return finished ? [[job.id, seconds + probeSeconds] as const] : []
      }),
    )
    const guess = estimateSeconds(this.jobs, {
      seconds: new Map([...(this.#adoption?.seconds(known) ?? []), ...known]),
      paces: readPaces(this.#options.work),
    })
    return job => (job.given !== undefined || this.isComplete(job) ? 0 : guess(job))
  }

  /** @throws ConfigError for a start that is not there, where an arm has to be trained from it */
  #refuseMissingStarts(jobs: readonly Job[]): void {
    const job = jobs.find(
      each => each.kind === 'arm' && each.missing && !isDone(each) && !this.isComplete(each),
    )
    if (job?.missing) throw job.missing
  }

  /** @throws ConfigError for a start that is not there, where an arm has to be trained from it */
  plan(): ExperimentPlan {
    this.#refuseMissingStarts(this.jobs)
    const { width, budgetMinutes } = this.#options
    const estimate = this.estimator()
    const costs = new Map(this.jobs.map(job => [job.id, estimate(job)]))
    const known = [...costs.values()].every(cost => cost !== null)
    const cost = (job: Job) => costs.get(job.id) ?? 0
    const budget = budgetMinutes === undefined ? Number.POSITIVE_INFINITY : 60 * budgetMinutes
    const { chosen, blocks, allBlocks, seconds } = fitBudget(
      this.jobs,
      cost,
      width,
      known ? budget : Infinity,
    )
    return {
      jobs: this.jobs,
      chosen,
      done: this.jobs.filter(job => this.isComplete(job)).length,
      blocks: { chosen: blocks, all: allBlocks },
      secondsChosen: known ? seconds : null,
      secondsAll: known ? wallSeconds(this.jobs.map(cost), width) : null,
      adopted: this.adopted,
      warnings: [...this.#warnings(), ...this.missingMetrics()],
    }
  }

  /** What the registration asks for and a finished run lacks: of these jobs, or of the first one of each arm that is done. */
  missingMetrics(jobs = this.#firstDone()): string[] {
    return [...new Set(this.#runsOf(jobs).flatMap(run => missingMetrics(this.registration, run)))]
  }

  /** Runs of these jobs that are done, from their folders, or adopted. */
  #runsOf(jobs: readonly Job[]): TrainedRun[] {
    return jobs.flatMap(job => this.#runHere(job) ?? this.#adoption?.runOf(job) ?? [])
  }

  #runHere(job: Job): TrainedRun | undefined {
    const probes = this.registration.probes.map(({ name }) => name)
    return finishedRuns([job], probes).at(0)
  }

  #firstDone(): Job[] {
    const first = new Map<string, Job>()
    for (const job of this.jobs)
      if (job.kind === 'arm' && !first.has(job.arm) && this.isComplete(job)) first.set(job.arm, job)
    return [...first.values()]
  }

  /** Whether any arm has been trained, or tried, or is adopted: without that there is nothing to analyse. */
  get hasBegun(): boolean {
    return this.jobs.some(
      job =>
        job.kind === 'arm' &&
        (isDone(job) || readRecord(job).attempts > 0 || this.#adoption?.runOf(job) !== undefined),
    )
  }

  #warnings(): string[] {
    const { test } = this.registration
    return [
      ...(test.problems < ADVISED_PROBLEMS
        ? [
            `test.problems: ${test.problems}; below ${ADVISED_PROBLEMS} effects of a few points drown in the test set`,
          ]
        : []),
      ...reachWarnings(this.registration),
      ...untestableClaims(this.#looks),
      ...(this.#adoption?.warnings() ?? []),
    ]
  }

  /** Measures how long trainings take, where nothing of theirs is done yet. Writes it down for later calls. */
  async calibrate(stop: AbortSignal, say: (text: string) => void): Promise<void> {
    const estimate = this.estimator()
    const unknown = this.jobs.filter(job => estimate(job) === null)
    await calibrate(unknown, this.jobs, this.#options, stop, say)
  }

  /**
   * Runs the chosen jobs. Content, time, rule and versions are put down before the first of them, for each block.
   * @throws RunError while another command runs this registration in the same folder; ConfigError when runs that are done
   * were trained with other settings, or a start is not there from which one has to be
   */
  async run(chosen: readonly Job[], stop: AbortSignal, events: RunnerEvents): Promise<RunnerResult> {
    this.#refuseMissingStarts(chosen)
    const holder = lockHolder(this.folder)
    if (holder !== null)
      throw new RunError(
        `${this.folder}: another gradus experiment is at work on this registration: ${holder.who}`,
        { hint: `${holder.advice}; --dry-run and --analyse can be used meanwhile` },
      )
    const lock = takeLock(this.folder)
    try {
      if (chosen.some(job => !this.isComplete(job))) refuseOtherSettings(this.jobs, this.#options.resolve)
      const { execute, width, command } = this.#options
      const provenance = () => provenanceNow(command)
      register(this.folder, this.registration, provenance().versions)
      const isComplete = (job: Job) => this.isComplete(job)
      const probe = (job: Job, signal: AbortSignal) => this.#measure(job, signal, events)
      const jobs = chosen.filter(job => !this.#adoption?.covers(job))
      return await runJobs(jobs, { execute, probe, isComplete, provenance, width, stop, events })
    } finally {
      lock.release()
    }
  }

  async #measure(job: Job, stop: AbortSignal, events: RunnerEvents): Promise<void> {
    const { execute, probe } = this.#options
    if (job.kind === 'arm') return probe(job, stop)
    try {
      await lookAtStart(this.#looks, job, execute, stop)
    } catch (error) {
      // The arms evaluate their start themselves; only the early word is lost.
      events.onNote?.(`${job.id}: could not be looked at beforehand: ${(error as Error).message}`)
    }
    for (const note of untestableClaims(this.#looks)) events.onNote?.(note)
    const difference = this.#startDifference(job)
    if (difference !== null) events.onDifference?.(difference)
  }

  /** Of a cold start that is trained here beside adopted runs; null where it is the same, or they cannot be compared. */
  #startDifference(job: Job): string | null {
    return isDone(job) ? startDifference(this.#looks, job, own => this.#runHere(own)) : null
  }

  /** Analyses what is done, and writes results and report. */
  report(failed: PaperResult['failed'] = []): ExperimentReport {
    const runs = this.#runsOf(this.jobs)
    const context = this.#context(failed)
    const result = analysePaper(this.registration, runs, context)
    const { adopted } = this
    const starts = [...finishedStarts(this.jobs), ...(this.#adoption?.starts() ?? [])]
    const folder = writeResults(this.#results, result)
    writeSlimRuns(folder, this.registration, context, runs, starts)
    writePaperSummary(folder, result)
    const report = writePaperReport(folder, result, runs)
    return { result, folder, report, foreign: foreignResults(folder, this.registration), adopted }
  }

  #context(failed: PaperResult['failed']): PaperContext {
    const analysedWith = provenanceNow(this.#options.command)
    const open = this.jobs.filter(job => !this.isComplete(job))
    const context: PaperContext = {
      registered: readRegistered(this.folder, this.registration, analysedWith.versions),
      failed: [...failed, ...earlierFailures(open, failed, this.#adoption?.context.failed)],
      trainedWith: countTrained(this.jobs.filter(isDone).map(provenanceOf)),
      analysedWith,
    }
    const differences = () =>
      this.jobs.flatMap(job => (job.kind === 'start' ? (this.#startDifference(job) ?? []) : []))
    return this.#adoption?.addTo(context, differences) ?? context
  }
}
