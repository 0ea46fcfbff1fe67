/** @file One experiment from its registration to its results: plan, calibration, runs, analysis, report. */

import { join } from 'node:path'
import { RunError } from '../runs/errors.ts'
import { lockHolder, takeLock } from '../runs/lock.ts'
import { readRunInfo } from '../runs/readers.ts'
import { differentSettings } from '../runs/report/compare.ts'
import { ConfigError, UsageError } from '../util/errors.ts'
import { missingFigures } from './analysis/missing-figures.ts'
import { reachWarnings } from './analysis/reach.ts'
import { estimateSeconds, fitBudget, wallSeconds } from './plan/estimate.ts'
import {
  decisive,
  type Job,
  jobsOf,
  type ResolveTraining,
  runDir,
  type WorkFolders,
  workFolders,
} from './plan/jobs.ts'
import { ADVISED_PROBLEMS, type Registration } from './plan/registration.ts'
import { missingProbes, runProbes } from './probes/run.ts'
import { writePaperReport } from './report/report.ts'
import { writePaperSummary } from './report/summary.ts'
import { foreignResults, writeResults } from './results/files.ts'
import { analysePaper, type PaperContext, type PaperResult } from './results/paper.ts'
import { readRegistered, register } from './results/registered.ts'
import { writeSlimRuns } from './results/slim-runs.ts'
import { calibrate, readPaces } from './run/calibration.ts'
import { finishedRuns } from './run/finished.ts'
import { isDone, provenanceOf, readRecord } from './run/ledger.ts'
import { countTrained, provenanceNow } from './run/provenance.ts'
import {
  type Execute,
  type RunnerEvents,
  type RunnerOptions,
  type RunnerResult,
  runJobs,
} from './run/runner.ts'
import { isLookedAt, lookAtStart, untestableClaims } from './run/start-look.ts'

/** Differences that an error names. */
const NAMED_CHANGES = 5

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
}

export class Experiment {
  readonly registration: Registration
  readonly #options: ExperimentOptions
  readonly #folders: WorkFolders
  readonly jobs: Job[]

  /** @throws ConfigError for settings that an arm's recipe does not take. */
  constructor(registration: Registration, options: ExperimentOptions) {
    this.registration = registration
    this.#options = options
    this.#folders = workFolders(options.work, registration)
    this.jobs = jobsOf(registration, this.#folders, options.resolve)
  }

  get folder(): string {
    return this.#folders.registration
  }

  /** Whether nothing is left to do of a job: trained, and measured by its probes; a cold start looked at for claims against it. */
  isComplete(job: Job): boolean {
    if (job.kind === 'start' && !isLookedAt(this.registration, this.jobs, job, this.folder)) return false
    return isDone(job) && missingProbes(this.registration.probes, job).length === 0
  }

  /** Measures one finished job. @throws UsageError for an id that is none */
  async probe(id: string): Promise<void> {
    const job = this.jobs.find(each => each.id === id)
    if (!job) throw new UsageError(`--probe: expected the id of a job, got ${JSON.stringify(id)}`)
    await runProbes(this.registration.probes, job)
  }

  /** Seconds still to spend on a job: 0 for one that is done, null where nothing is known. */
  estimator(): (job: Job) => number | null {
    const known = this.jobs.flatMap(job => {
      const { finished, seconds, probeSeconds } = readRecord(job)
      return finished ? [[job.id, seconds + probeSeconds] as const] : []
    })
    const guess = estimateSeconds(this.jobs, {
      seconds: new Map(known),
      paces: readPaces(this.#options.work),
    })
    return job => (this.isComplete(job) ? 0 : guess(job))
  }

  plan(): ExperimentPlan {
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
      warnings: [...this.#warnings(), ...this.missingFigures()],
    }
  }

  /** What the registration asks for and a finished run lacks: of these jobs, or of the first one of each arm that is done. */
  missingFigures(jobs = this.#firstDone()): string[] {
    const probes = this.registration.probes.map(({ name }) => name)
    return [...new Set(finishedRuns(jobs, probes).flatMap(run => missingFigures(this.registration, run)))]
  }

  #firstDone(): Job[] {
    const first = new Map<string, Job>()
    for (const job of this.jobs)
      if (job.kind === 'arm' && !first.has(job.arm) && this.isComplete(job)) first.set(job.arm, job)
    return [...first.values()]
  }

  /** Whether any arm has been trained, or tried: without that there is nothing to analyse. */
  get hasBegun(): boolean {
    return this.jobs.some(job => job.kind === 'arm' && (isDone(job) || readRecord(job).attempts > 0))
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
      ...untestableClaims(this.registration, this.folder),
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
   * were trained with other settings
   */
  async run(chosen: readonly Job[], stop: AbortSignal, events: RunnerEvents): Promise<RunnerResult> {
    const holder = lockHolder(this.folder)
    if (holder !== null)
      throw new RunError(
        `${this.folder}: another gradus experiment is at work on this registration: ${holder.who}`,
        { hint: `${holder.advice}; --dry-run and --analyse can be used meanwhile` },
      )
    const lock = takeLock(this.folder)
    try {
      if (chosen.some(job => !this.isComplete(job))) this.#refuseOtherSettings()
      const { execute, width, command } = this.#options
      const provenance = () => provenanceNow(command)
      register(this.folder, this.registration, provenance().versions)
      const isComplete = (job: Job) => this.isComplete(job)
      const probe = (job: Job, signal: AbortSignal) => this.#measure(job, signal, events)
      return await runJobs(chosen, { execute, probe, isComplete, provenance, width, stop, events })
    } finally {
      lock.release()
    }
  }

  async #measure(job: Job, stop: AbortSignal, events: RunnerEvents): Promise<void> {
    const { execute, probe } = this.#options
    if (job.kind === 'arm') return probe(job, stop)
    try {
      await lookAtStart(this.registration, this.jobs, job, { folder: this.folder, execute }, stop)
    } catch (error) {
      // The arms evaluate their start themselves; only the early word is lost.
      events.onNote?.(`${job.id}: could not be looked at beforehand: ${(error as Error).message}`)
    }
    for (const note of untestableClaims(this.registration, this.folder)) events.onNote?.(note)
  }

  /**
   * Runs that are done and those still to be made must be trained with the same settings: the registration's content leaves
   * presets and defaults to the code, and that may have changed since.
   */
  #refuseOtherSettings(): void {
    for (const job of this.jobs) {
      const { finished, configHash, provenance = [] } = readRecord(job)
      if (!finished || configHash === undefined || configHash === job.configHash) continue
      const { commit } = provenance.at(-1)?.versions ?? {}
      throw new ConfigError(
        `${job.id}: was trained with other settings than it would be now: ${this.#changes(job)}. Runs of both must not be compared`,
        {
          hint: `go on with the Gradus that trained it${commit === undefined ? '' : ` (commit ${commit})`}, or begin anew with another --work`,
        },
      )
    }
  }

  #changes(job: Job): string {
    const now = decisive(this.#options.resolve(job.training, job.id))
    const then = decisive(readRunInfo(runDir(job)).config as Record<string, unknown>)
    const changes = differentSettings(then, now)
      .filter(({ name }) => name !== 'model.folder')
      .map(
        ({ name, a, b }) => `${name} ${JSON.stringify(a) ?? 'absent'}, now ${JSON.stringify(b) ?? 'absent'}`,
      )
    return changes.length === 0 ? 'its cold start has others' : changes.slice(0, NAMED_CHANGES).join('; ')
  }

  /** Failures of this call, and those of earlier calls that no run has made good since. */
  #failures(now: PaperResult['failed']): PaperResult['failed'] {
    const told = new Set(now.map(({ id }) => id))
    const earlier = this.jobs.flatMap(job => {
      const { error } = readRecord(job)
      return error === null || told.has(job.id) || this.isComplete(job)
        ? []
        : [{ id: job.id, message: error }]
    })
    return [...now, ...earlier]
  }

  /** Analyses what is done, and writes results and report. */
  report(failed: PaperResult['failed'] = []): ExperimentReport {
    const runs = finishedRuns(
      this.jobs,
      this.registration.probes.map(({ name }) => name),
    )
    const analysedWith = provenanceNow(this.#options.command)
    const context: PaperContext = {
      registered: readRegistered(this.folder, this.registration, analysedWith.versions),
      failed: this.#failures(failed),
      trainedWith: countTrained(this.jobs.filter(isDone).map(provenanceOf)),
      analysedWith,
    }
    const result = analysePaper(this.registration, runs, context)
    const folder = writeResults(join(this.#options.results, this.registration.paper), result)
    writeSlimRuns(folder, this.registration, context, runs)
    writePaperSummary(folder, result)
    const report = writePaperReport(folder, result, runs)
    return { result, folder, report, foreign: foreignResults(folder, this.registration) }
  }
}
