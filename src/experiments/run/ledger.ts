/** @file What is known of a job between runs of the command: job.json beside its run folder. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { latestCheckpoint, readRunInfo } from '../../runs/readers.ts'
import { isFinished, loadRunState } from '../../runs/run-state.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { type Job, type JobPlace, runDir } from '../plan/jobs.ts'
import type { Provenance } from './provenance.ts'

export interface JobRecord {
  id: string
  finished: boolean
  /** Seconds of all attempts together, start of the process included. */
  seconds: number
  /** Seconds of the probes after it. */
  probeSeconds: number
  attempts: number
  /** What the last attempt failed of; null when it did not. */
  error: string | null
  /** `Job.configHash` of what was trained. Absent in records from before it was kept, as the next. */
  configHash?: string
  /** What it was trained with: more than one where it went on under another. */
  provenance?: Provenance[]
}

const file = (job: Pick<Job, 'dir'>): string => join(job.dir, 'job.json')

const fresh = (job: Pick<Job, 'id'>): JobRecord => ({
  id: job.id,
  finished: false,
  seconds: 0,
  probeSeconds: 0,
  attempts: 0,
  error: null,
})

/** The record of a job; a new one when there is none, or a torn one. */
export const readRecord = (job: Pick<Job, 'dir' | 'id'>): JobRecord => {
  try {
    return JSON.parse(readFileSync(file(job), 'utf8')) as JobRecord
  } catch {
    return fresh(job)
  }
}

export const writeRecord = (job: Pick<Job, 'dir'>, record: JobRecord): void =>
  writeFileAtomic(file(job), `${JSON.stringify(record, null, 2)}\n`)

/** The checkpoint folder of a cold start, trained or given; null while there is none. */
export const startModel = (job: Pick<Job, 'dir' | 'given'>): string | null =>
  job.given ?? latestCheckpoint(runDir(job))

/**
 * The model that a run from this start is set to begin with: one that is given by the name that the registration has for it, so that
 * a run goes on wherever the package is installed by then.
 */
export const startSetting = (job: Pick<Job, 'dir' | 'given' | 'training'>): string | null =>
  job.given === undefined ? startModel(job) : job.training.recipe

/**
 * Whether a job's training is done: its record says so, or its last checkpoint does (the process that noted it down may have
 * been killed first).
 */
export const isDone = (job: JobPlace & Pick<Job, 'id' | 'given'>): boolean => {
  if (job.given !== undefined) return true
  if (readRecord(job).finished) return true
  const checkpoint = latestCheckpoint(runDir(job))
  if (checkpoint === null) return false
  try {
    return isFinished(loadRunState(checkpoint).recipe)
  } catch {
    return false
  }
}

/** What a job was trained with; of a record that does not say, what the run itself noted, which has no commit. */
export const provenanceOf = (job: JobPlace & Pick<Job, 'id'>): Provenance[] => {
  const { provenance } = readRecord(job)
  if (provenance !== undefined) return provenance
  if (!existsSync(join(runDir(job), 'config.json'))) return []
  const { version, environment } = readRunInfo(runDir(job))
  return [{ versions: version === undefined ? {} : { gradus: version }, machine: environment }]
}

interface Failure {
  id: string
  message: string
}

/**
 * Failures of earlier calls that no run has made good since, then those that other results tell of jobs which were not tried here.
 * @param open jobs that are not complete
 * @param now failures of this call, which are told anyway
 */
export const earlierFailures = (
  open: readonly Job[],
  now: readonly Failure[],
  elsewhere: readonly Failure[] = [],
): Failure[] => {
  const reported = new Set(now.map(({ id }) => id))
  const left = open.filter(({ id }) => !reported.has(id)).map(job => ({ job, record: readRecord(job) }))
  const untried = new Set(left.flatMap(({ job, record }) => (record.attempts > 0 ? [] : [job.id])))
  return [
    ...left.flatMap(({ job, record: { error } }) => (error === null ? [] : [{ id: job.id, message: error }])),
    ...elsewhere.filter(({ id }) => untried.has(id)),
  ]
}
