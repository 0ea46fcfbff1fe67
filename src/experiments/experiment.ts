/** @file One experiment from its registration to its results: plan, calibration, runs, analysis, report. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RunError } from '../runs/errors.ts'
import { lockHolder, takeLock } from '../runs/lock.ts'
import { differentSettings } from '../runs/report/compare.ts'
import { readRunInfo } from '../runs/run-folder.ts'
import { writeFileAtomic } from '../util/atomic.ts'
import { canonicalJson } from '../util/canonical.ts'
import { ConfigError, UsageError } from '../util/errors.ts'
import { missingFigures } from './analysis/missing-figures.ts'
import { analysePaper, foreignResults, type PaperResult, writeResults } from './analysis/results.ts'
import { calibrate, readPaces } from './plan/calibration.ts'
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
import { reachWarnings } from './plan/reach.ts'
import { ADVISED_PROBLEMS, type Registration } from './plan/registration.ts'
import { missingProbes, runProbes } from './probes/run.ts'
import { writePaperReport } from './report/report.ts'
import { writePaperSummary } from './report/summary.ts'
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

  /** Whether nothing is left to do of a job: trained, and measured by its probes. */
  isComplete(job: Job): boolean {
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
    ]
  }

  /** Measures how long trainings take, where nothing of theirs is done yet. Writes it down for later calls. */
  async calibrate(stop: AbortSignal, say: (text: string) => void): Promise<void> {
    const estimate = this.estimator()
    const unknown = this.jobs.filter(job => estimate(job) === null)
    await calibrate(unknown, this.jobs, this.#options, stop, say)
  }

  /**
   * Runs the chosen jobs. The registration's content and the time are put down before the first of them.
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
    const release = takeLock(this.folder)
    try {
      if (chosen.some(job => !this.isComplete(job))) this.#refuseOtherSettings()
      this.#register()
      const { execute, probe, width } = this.#options
      const isComplete = (job: Job) => this.isComplete(job)
      const provenance = provenanceNow
      return await runJobs(chosen, { execute, probe, isComplete, provenance, width, stop, events })
    } finally {
      release()
    }
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

  #register(): void {
    const path = join(this.folder, 'registration.json')
    if (existsSync(path)) return
    const { file, hash, ...content } = this.registration
    const record = { sha256: hash, registeredAt: new Date().toISOString(), file, content }
    writeFileAtomic(path, `${canonicalJson(record)}\n`)
  }

  #registeredAt(): string {
    const path = join(this.folder, 'registration.json')
    if (!existsSync(path)) return new Date().toISOString()
    return (JSON.parse(readFileSync(path, 'utf8')) as { registeredAt: string }).registeredAt
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
    const result = analysePaper(this.registration, this.jobs, runs, {
      registeredAt: this.#registeredAt(),
      failed: this.#failures(failed),
      trainedWith: countTrained(this.jobs.filter(isDone).map(provenanceOf)),
    })
    const folder = writeResults(join(this.#options.results, this.registration.paper), result)
    writePaperSummary(folder, result)
    const report = writePaperReport(folder, result, runs)
    return { result, folder, report, foreign: foreignResults(folder, this.registration) }
  }
}
