/**
 * @file Runs that are taken over from results instead of being trained again: what an experiment goes on from where its run folders
 * are gone. They are those of `runs.jsonl.br`, which keeps all that results are worked out from. A run whose folder is here comes
 * before the one in the file.
 */

import { RunError } from '../../runs/errors.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { ConfigError } from '../../util/errors.ts'
import { plural } from '../../util/format.ts'
import { blocksOf } from '../plan/blocks.ts'
import { isOfOtherSettings, type Job } from '../plan/jobs.ts'
import type { Registration } from '../plan/registration.ts'
import { finishedStarts, type TrainedRun, type TrainedStart } from '../run/finished.ts'
import { isDone } from '../run/ledger.ts'
import { addTrained, countTrained, type Provenance, type TrainedWith } from '../run/provenance.ts'
import type { PaperContext } from './paper.ts'
import { earlierRegistered } from './registered.ts'
import { readSlimRuns, type SlimRuns, slimRunsPath } from './slim-runs.ts'

/** Jobs that an error or a warning names. */
const NAMED_JOBS = 5

const named = (ids: readonly string[]): string =>
  `${ids.slice(0, NAMED_JOBS).join(', ')}${ids.length > NAMED_JOBS ? ` and ${ids.length - NAMED_JOBS} more` : ''}`

/** The runs of results of the same registration. @throws RunError where there are none; ConfigError for another registration */
const readSame = (folder: string, { hash, file }: Registration): SlimRuns => {
  const path = slimRunsPath(folder)
  const found = readSlimRuns(folder)
  if (found === null)
    throw new RunError(`${path}: expected the runs of results to adopt, found no such file`, {
      hint: 'name the folder above it with --results, or leave out --adopt to train every run',
    })
  if (found.registration.hash !== hash)
    throw new ConfigError(
      `${path}: expected runs of the registration ${hash.slice(0, 16)} (${file}), got those of ${found.registration.hash.slice(0, 16)}: runs of another registration cannot be adopted`,
      {
        hint: 'go on with the file that they were registered by, name other results with --results, or leave out --adopt',
      },
    )
  return found
}

/** Seeds of the blocks that two forms of one registration have in common: the first ones, until a later block differs. */
const commonSeeds = (registration: Registration, other: Registration): Set<string> => {
  const hashes = new Set(other.blockHashes)
  // A block's hash is over the one before it: of blocks that differ none that comes later is the same.
  const common = blocksOf(registration).filter(({ nth, sha256 }) => nth === 1 || hashes.has(sha256))
  return new Set(common.flatMap(({ seeds }) => seeds.map(String)))
}

/** Runs that stand in results and in no folder here. */
export interface AdoptedJobs {
  /** Path of the file that they are from. */
  from: string
  /** Ids of jobs that need not be trained for that. */
  runs: string[]
  /** Cold starts that no other runs need: they are not trained either. */
  starts: string[]
  /** Of how many runs, cold starts left out. */
  of: number
  /** Runs that lie there and are not among them, and why. */
  warnings: string[]
}

export class Adoption {
  /** Path of the file. */
  readonly from: string
  /** What the results were when they were written. */
  readonly context: PaperContext
  readonly #registration: Registration
  readonly #jobs: readonly Job[]
  readonly #all: readonly TrainedRun[]
  readonly #starts: readonly TrainedStart[]
  /** By job. */
  readonly #runs: ReadonlyMap<string, TrainedRun>

  /**
   * @param folder of the results @param jobs of the registration
   * @throws RunError where no runs lie there; DataError for a damaged file; ConfigError for runs of another registration, or with
   * other settings than jobs have now
   */
  constructor(folder: string, registration: Registration, jobs: readonly Job[]) {
    const { context, runs, starts, registration: other } = readSame(folder, registration)
    this.from = slimRunsPath(folder)
    this.#registration = registration
    this.#jobs = jobs
    this.context = context
    this.#all = runs
    this.#starts = starts
    const seeds = commonSeeds(registration, other)
    const own = runs.filter(({ seed }) => seeds.has(seed))
    const byName = new Map(own.map(run => [`${run.arm}/${run.start}/${run.seed}`, run]))
    this.#runs = new Map(
      jobs.flatMap(({ id, kind }) => {
        const run = kind === 'arm' ? byName.get(id) : undefined
        return run === undefined ? [] : [[id, run] as const]
      }),
    )
    this.#refuseOtherSettings()
  }

  /** The run that stands for a job; undefined where there is none, or where the job's own folder has one. */
  runOf(job: Job): TrainedRun | undefined {
    const run = this.#runs.get(job.id)
    return run === undefined || isDone(job) ? undefined : run
  }

  /** Jobs that a run stands for. */
  get jobs(): Job[] {
    return this.#jobs.filter(job => this.runOf(job) !== undefined)
  }

  /** Whether nothing is left to do of a job: an arm's run is here with its probes; of a cold start every run that begins with it. */
  covers(job: Job): boolean {
    if (job.kind === 'start')
      return this.#jobs.filter(({ needs }) => needs === job.id).every(each => this.covers(each))
    const run = this.runOf(job)
    return run !== undefined && this.#lacking(run).length === 0
  }

  /** Jobs of which nothing need be here. */
  jobsCovered(): AdoptedJobs {
    const ids = (kind: Job['kind']) =>
      this.#jobs.flatMap(job => (job.kind === kind && this.covers(job) ? [job.id] : []))
    return {
      from: this.from,
      runs: ids('arm'),
      starts: ids('start'),
      of: this.#jobs.filter(({ kind }) => kind === 'arm').length,
      warnings: this.warnings(),
    }
  }

  /** What adopted runs and their cold starts took, of arms of which no run is done here: another machine may be faster. */
  seconds(here: ReadonlyMap<string, number>): [string, number][] {
    const arms = new Set(this.#jobs.flatMap(({ id, arm }) => (here.has(id) ? [arm] : [])))
    const starts = new Map(this.starts().map(({ id, seconds }) => [id, seconds]))
    return this.#jobs.flatMap(job => {
      const seconds = this.runOf(job)?.seconds ?? starts.get(job.id)
      return seconds === undefined || arms.has(job.arm) ? [] : [[job.id, seconds]]
    })
  }

  #lacking({ arm, probes: found }: TrainedRun): string[] {
    const { probes } = this.#registration
    return probes.flatMap(({ name, arms }) => (arms.includes(arm) && !(name in found) ? [name] : []))
  }

  /** Runs are compared that were trained with the same settings only; files from before their hash was kept are accepted. */
  #refuseOtherSettings(): void {
    const others = this.jobs.filter(job => isOfOtherSettings(job, this.#runs.get(job.id)!.configHash))
    if (others.length === 0) return
    const { provenance = [], configHash } = this.#runs.get(others[0].id)!
    const { commit } = provenance.at(-1)?.versions ?? {}
    throw new ConfigError(
      `${this.from}: ${named(others.map(({ id }) => id))}: trained with other settings than now (their hash is ${configHash}, now ${others[0].configHash} for ${others[0].id}). Runs of both must not be compared`,
      {
        hint: `go on with the Gradus that trained them${commit === undefined ? '' : ` (commit ${commit})`}, or leave out --adopt to train all runs anew`,
      },
    )
  }

  /** What a person has to know beforehand; a line each. */
  warnings(): string[] {
    const half = this.jobs.filter(job => !this.covers(job))
    const probes = [...new Set(half.flatMap(job => this.#lacking(this.#runs.get(job.id)!)))]
    const foreign = this.#all.filter(({ arm, start, seed }) => !this.#runs.has(`${arm}/${start}/${seed}`))
    return [
      ...(half.length === 0
        ? []
        : [
            `${this.from}: without the probe ${probes.join(', ')}, so to be trained again: ${named(half.map(({ id }) => id))}`,
          ]),
      ...(foreign.length === 0
        ? []
        : [
            `${this.from}: ${plural(foreign.length, 'run')} of blocks that this registration does not have, or has otherwise: not adopted, and results will be written without them`,
          ]),
    ]
  }

  /** The cold starts that adopted runs began with, but for those that lie in their folders here. */
  starts(): TrainedStart[] {
    const key = ({ id, provenance }: TrainedStart) => canonicalJson({ id, provenance })
    const here = new Set(finishedStarts(this.#jobs).map(key))
    const isUsed = ({ id }: TrainedStart) => {
      const dependents = this.#jobs.filter(({ needs }) => needs === id)
      return dependents.length === 0 || dependents.some(job => this.runOf(job) !== undefined)
    }
    return this.#starts.filter(start => isUsed(start) && !here.has(key(start)))
  }

  /** A context of runs here with what the adopted ones add to it. @param differences that it notes where any are adopted */
  addTo(context: PaperContext, differences: () => string[]): PaperContext {
    if (this.jobs.length === 0) return context
    const notes = [...new Set([...(this.context.notes ?? []), ...differences()])]
    return {
      ...context,
      registered: earlierRegistered(context.registered, this.context.registered),
      trainedWith: addTrained(context.trainedWith, this.#trainedWith()),
      ...(notes.length > 0 && { notes }),
    }
  }

  /** What adopted runs and their cold starts were made with. */
  #trainedWith(): TrainedWith[] {
    const made = (all: readonly { provenance?: readonly Provenance[] }[]) =>
      countTrained(all.map(({ provenance = [] }) => provenance))
    const runs = this.jobs.map(job => this.#runs.get(job.id)!)
    const known = made([...runs, ...this.starts()])
    if (runs.every(({ provenance }) => provenance !== undefined)) return known
    // Files from before each run said so have one count of all: what is in it beside those that say so.
    return addTrained(known, addTrained(this.context.trainedWith, made([...this.#all, ...this.#starts]), -1))
  }
}
