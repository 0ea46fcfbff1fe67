/** @file Finished jobs read from their folders, for the analysis. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readEvals, readMetrics } from '../../runs/readers.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { onAllProblems } from '../metrics/all-problems.ts'
import type { FinishedRun } from '../metrics/index.ts'
import { type Job, runDir } from '../plan/jobs.ts'
import { isDone, provenanceOf, readRecord } from './ledger.ts'
import type { Provenance } from './provenance.ts'

/** A finished run with what it was made with. */
export interface TrainedRun extends FinishedRun {
  /** `Job.configHash` of what was trained; absent where that was not kept, as the next. */
  configHash?: string
  provenance?: readonly Provenance[]
}

/** A cold start that is trained: what it took, and what it was made with. */
export interface TrainedStart {
  /** `Job.id`. */
  id: string
  seconds: number
  provenance: readonly Provenance[]
}

export const probeFile = (job: Pick<Job, 'dir'>, probe: string): string =>
  join(job.dir, `probe-${probe}.json`)

const probesOf = (job: Job, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    names.flatMap(name => {
      const file = probeFile(job, name)
      return existsSync(file) ? [[name, JSON.parse(readFileSync(file, 'utf8')) as unknown]] : []
    }),
  )

/** Rows without what nothing reads: items only of what a run began with and of the last evaluation of a set, without criteria. */
const slim = (rows: readonly EvalRow[]): EvalRow[] =>
  rows.map((row, i) => {
    const { items, ...rest } = row
    const isLast = rows.findLastIndex(({ set }) => set === row.set) === i
    if (!items || !(isLast || row.step === 0)) return rest
    return { ...rest, items: items.map(({ criteria: _criteria, ...item }) => item) }
  })

/** Arms' jobs that are done, with everything that metrics read. Jobs that are not are left out. */
export const finishedRuns = (jobs: readonly Job[], probes: readonly string[] = []): TrainedRun[] =>
  jobs
    .filter(job => job.kind === 'arm' && isDone(job))
    .map(job => {
      const metrics = readMetrics(runDir(job))
      const { seconds, configHash } = readRecord(job)
      return {
        arm: job.arm,
        start: job.start,
        seed: job.seed,
        steps: metrics.at(-1)?.step ?? 0,
        metrics,
        evals: slim(onAllProblems(readEvals(runDir(job)))),
        probes: probesOf(job, probes),
        seconds,
        ...(configHash !== undefined && { configHash }),
        provenance: provenanceOf(job),
      }
    })

/** Cold starts' jobs that are done. */
export const finishedStarts = (jobs: readonly Job[]): TrainedStart[] =>
  jobs
    .filter(job => job.kind === 'start' && isDone(job))
    .map(job => ({ id: job.id, seconds: readRecord(job).seconds, provenance: provenanceOf(job) }))
