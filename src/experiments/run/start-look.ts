/**
 * @file Cold starts looked at before any arm runs: whether claims against the start leave room for their effect. A start is evaluated
 * as the arm of such a claim evaluates it before its first step, by a training of no steps. A start that is trained again beside
 * adopted runs is evaluated as one of them did, too, and the two are compared.
 */

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { lockHolder } from '../../runs/lock.ts'
import { readEvals } from '../../runs/readers.ts'
import { mean } from '../../util/statistics.ts'
import { evaluationDifference } from '../analysis/same-evaluation.ts'
import { untestable } from '../analysis/untestable.ts'
import { onAllProblems } from '../metrics/all-problems.ts'
import { beforeTraining, type FinishedRun, metricNamed } from '../metrics/index.ts'
import type { Job } from '../plan/jobs.ts'
import { armsAgainstStart, type Registration } from '../plan/registration.ts'
import { startModel } from './ledger.ts'
import type { Execute } from './runner.ts'

const lookDir = (folder: string, arm: string, start: string): string =>
  join(folder, 'starts', `${arm}-from-${start}`)

/** What a look at a cold start found, as a run of no steps; null where there was none. */
const evaluation = (folder: string, arm: string, start: string): FinishedRun | null => {
  const dir = lookDir(folder, arm, start)
  const evals = existsSync(join(dir, 'evals.jsonl')) ? readEvals(dir).filter(({ step }) => step === 0) : []
  if (evals.length === 0) return null
  const none = { seed: '', steps: 0, metrics: [], probes: {}, seconds: 0 }
  return beforeTraining({ arm, start, ...none, evals: onAllProblems(evals) })
}

/** What looks are made by. */
export interface Looks {
  registration: Registration
  /** Of the registration. */
  jobs: readonly Job[]
  /** Of the registration's work: looks are kept there. */
  folder: string
  /** The run from elsewhere that stands for a job; absent, or nothing, where none does. */
  adopted?: (job: Job) => FinishedRun | undefined
}

const isEvaluatedBefore = (run: FinishedRun | undefined): run is FinishedRun =>
  run?.evals.some(({ step }) => step === 0) ?? false

/**
 * A run of each arm that is compared with its cold start, and begins with this one; and one of the adopted runs that do, if none of
 * those is of an arm that has any.
 */
const runsFrom = ({ registration, jobs, adopted }: Looks, startJob: Job): Job[] => {
  const own = jobs.filter(({ needs }) => needs === startJob.id)
  const known = own.filter(job => isEvaluatedBefore(adopted?.(job)))
  const against = [...new Set(registration.claims.flatMap(armsAgainstStart))].flatMap(
    name => [...known, ...own].find(({ arm }) => arm === name) ?? [],
  )
  return against.some(job => known.includes(job)) ? against : [...against, ...known.slice(0, 1)]
}

/** Whether nothing is left to look at of a cold start. */
export const isLookedAt = (looks: Looks, startJob: Job): boolean =>
  runsFrom(looks, startJob).every(({ arm, start }) => evaluation(looks.folder, arm, start) !== null)

/** Evaluates a cold start that is trained. @throws when an evaluation fails */
export const lookAtStart = async (
  looks: Looks,
  startJob: Job,
  execute: Execute,
  stop: AbortSignal,
): Promise<void> => {
  const { folder } = looks
  const model = startModel(startJob)
  for (const { arm, start, training } of runsFrom(looks, startJob)) {
    if (stop.aborted || model === null || evaluation(folder, arm, start) !== null) continue
    const settings = [...training.settings, { steps: 0 }, { model: { folder: model } }]
    const dir = lookDir(folder, arm, start)
    // One that was killed has left half a run.
    if (lockHolder(dir) === null) rmSync(dir, { recursive: true, force: true })
    await execute({ training: { ...training, settings }, dir, resume: false }, stop)
  }
}

/** How an arm finds a cold start before its first step: by a look, or as an adopted run found it. */
const foundBy = ({ jobs, folder, adopted }: Looks, arm: string, start: string): FinishedRun | null => {
  const looked = evaluation(folder, arm, start)
  if (looked !== null) return looked
  const own = jobs.filter(job => job.arm === arm && job.start === start)
  const run = own.map(job => adopted?.(job)).find(isEvaluatedBefore)
  return run === undefined ? null : beforeTraining(run)
}

/** Claims that cannot show, as the cold starts are; a line each. Only of those whose starts have all been looked at. */
export const untestableClaims = (looks: Looks): string[] =>
  looks.registration.claims.flatMap(claim => {
    const { metric, options } = metricNamed(claim.metric, `claim ${claim.id}`)
    const found = armsAgainstStart(claim).flatMap(arm => {
      const values = looks.registration.starts.map(({ name }) => {
        const run = foundBy(looks, arm, name)
        return run && metric.value(run, options)
      })
      const known = values.filter(value => value !== null)
      return known.length < values.length ? [] : (untestable(claim, mean(known)) ?? [])
    })
    return found.slice(0, 1).map(({ reason }) => `${claim.id}: untestable, ${reason}`)
  })

/**
 * Where a cold start that is trained here is not the one that adopted runs began with, as the same arm evaluates both before its
 * first step; a line a start. Another machine may round otherwise, and a start of many steps goes another way then. One that is there
 * has the same weights in both places, and is told of too: nothing else of its folder is hashed.
 * @param startJob that is trained here
 * @param here a finished run of this work, which is asked where the start was not looked at
 */
export const startDifference = (
  { jobs, folder, adopted }: Looks,
  startJob: Job,
  here: (job: Job) => FinishedRun | undefined,
): string | null => {
  const own = jobs.filter(({ needs }) => needs === startJob.id)
  const found = (arm: string) =>
    evaluation(folder, arm, startJob.start) ??
    own.flatMap(job => (job.arm === arm ? (here(job) ?? []) : [])).find(isEvaluatedBefore)
  for (const job of own) {
    const [before, now] = [adopted?.(job), found(job.arm)]
    if (!isEvaluatedBefore(before) || !now) continue
    const difference = evaluationDifference(beforeTraining(before).evals, beforeTraining(now).evals)
    if (difference !== null && startJob.given !== undefined)
      return `${startJob.id}: has the weights that it had elsewhere, and does otherwise here than before ${job.id}: before the first step ${difference}. Another machine rounds otherwise, or its folder has another tokenizer or configuration`
    if (difference !== null)
      return `${startJob.id}: trained again here, it is not what ${job.id} began with elsewhere: before the first step ${difference}. Adopted runs and those that are trained here do not share this start`
  }
  return null
}
