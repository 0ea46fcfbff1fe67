/**
 * @file Cold starts looked at before any arm runs: whether claims against the start leave room for their effect. A start is evaluated
 * as the arm of such a claim evaluates it before its first step, by a training of no steps.
 */

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { lockHolder } from '../../runs/lock.ts'
import { latestCheckpoint, readEvals } from '../../runs/readers.ts'
import { mean } from '../../util/statistics.ts'
import { untestable } from '../analysis/untestable.ts'
import { onAllProblems } from '../metrics/all-problems.ts'
import { beforeTraining, type FinishedRun, metricNamed } from '../metrics/index.ts'
import { type Job, runDir } from '../plan/jobs.ts'
import { comparisonsOf, type Registration, START } from '../plan/registration.ts'
import type { Execute } from './runner.ts'

/** Arms that a claim compares with their start, each once. */
const armsAgainstStart = ({ claims }: Registration): string[] => [
  ...new Set(claims.flatMap(claim => comparisonsOf(claim).flatMap(({ a, b }) => (b === START ? [a] : [])))),
]

const lookDir = (folder: string, arm: string, start: string): string =>
  join(folder, 'starts', `${arm}-from-${start}`)

const evaluation = (folder: string, arm: string, start: string): FinishedRun | null => {
  const dir = lookDir(folder, arm, start)
  const evals = existsSync(join(dir, 'evals.jsonl')) ? readEvals(dir).filter(({ step }) => step === 0) : []
  if (evals.length === 0) return null
  const none = { seed: '', steps: 0, metrics: [], probes: {}, seconds: 0 }
  return beforeTraining({ arm, start, ...none, evals: onAllProblems(evals) })
}

/** The first run of each such arm that begins with a cold start. */
const runsFrom = (registration: Registration, jobs: readonly Job[], startJob: Job): Job[] =>
  armsAgainstStart(registration).flatMap(
    arm => jobs.find(each => each.arm === arm && each.needs === startJob.id) ?? [],
  )

/** Whether nothing is left to look at of a cold start. @param jobs of the registration */
export const isLookedAt = (
  registration: Registration,
  jobs: readonly Job[],
  startJob: Job,
  folder: string,
): boolean =>
  runsFrom(registration, jobs, startJob).every(({ arm, start }) => evaluation(folder, arm, start) !== null)

/** Evaluates a cold start that is trained. @param jobs of the registration @throws when an evaluation fails */
export const lookAtStart = async (
  registration: Registration,
  jobs: readonly Job[],
  startJob: Job,
  { folder, execute }: { folder: string; execute: Execute },
  stop: AbortSignal,
): Promise<void> => {
  const model = latestCheckpoint(runDir(startJob))
  for (const { arm, start, training } of runsFrom(registration, jobs, startJob)) {
    if (stop.aborted || model === null || evaluation(folder, arm, start) !== null) continue
    const settings = [...training.settings, { steps: 0 }, { model: { folder: model } }]
    const dir = lookDir(folder, arm, start)
    // One that was killed has left half a run.
    if (lockHolder(dir) === null) rmSync(dir, { recursive: true, force: true })
    await execute({ training: { ...training, settings }, dir, resume: false }, stop)
  }
}

/** Claims that cannot show, as the cold starts are; a line each. Only of those whose starts have all been looked at. */
export const untestableClaims = (registration: Registration, folder: string): string[] =>
  registration.claims.flatMap(claim => {
    const { metric, options } = metricNamed(claim.metric, `claim ${claim.id}`)
    const arms = comparisonsOf(claim).flatMap(({ a, b }) => (b === START ? [a] : []))
    const found = arms.flatMap(arm => {
      const values = registration.starts.map(({ name }) => {
        const run = evaluation(folder, arm, name)
        return run && metric.value(run, options)
      })
      const known = values.filter(value => value !== null)
      return known.length < values.length ? [] : (untestable(claim, mean(known)) ?? [])
    })
    return found.slice(0, 1).map(({ reason }) => `${claim.id}: untestable, ${reason}`)
  })
