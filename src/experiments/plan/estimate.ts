/** @file How long jobs will take, from those that are done or from a calibration, and which of them fit a budget. */

import { meanKnown } from '../../util/statistics.ts'
import type { Job } from './jobs.ts'

/** Seconds of a training: its begin, first and last evaluation; a step; an evaluation between. */
export interface TrainingPace {
  fixed: number
  perStep: number
  perEvaluation: number
}

export interface KnownTimes {
  /** Seconds of finished jobs by id. */
  seconds: ReadonlyMap<string, number>
  /** By `Job.pace`, from calibration runs. */
  paces: ReadonlyMap<string, TrainingPace>
}

/**
 * Estimated seconds of each job that is not done: the mean of finished ones of the same arm, else of the same pace by steps,
 * else by the calibration. Null where nothing is known.
 */
export const estimateSeconds = (
  jobs: readonly Job[],
  { seconds, paces }: KnownTimes,
): ((job: Job) => number | null) => {
  const finished = jobs.flatMap(job => {
    const took = seconds.get(job.id)
    return took === undefined || took <= 0 ? [] : [{ job, took }]
  })
  const average = (own: typeof finished) => meanKnown(own.map(({ took }) => took))
  return job => {
    const alike = finished.filter(each => each.job.pace === job.pace)
    const same = average(alike.filter(each => each.job.arm === job.arm))
    if (same !== null) return same
    const withSteps = alike.filter(each => each.job.steps)
    const perStep = average(
      withSteps.map(({ job: other, took }) => ({ job: other, took: took / other.steps! })),
    )
    if (perStep !== null && job.steps) return perStep * job.steps
    const pace = paces.get(job.pace)
    if (!pace) return null
    return pace.fixed + pace.perStep * (job.steps ?? 0) + pace.perEvaluation * job.evaluations
  }
}

/** Seconds on the wall when `width` jobs run at a time: never less than the longest of them. */
export const wallSeconds = (seconds: readonly number[], width: number): number =>
  Math.max(0, ...seconds, seconds.reduce((a, b) => a + b, 0) / width)

/**
 * The first blocks that fit the budget, whole ones only: half a block has no pairs. Jobs that are done cost nothing.
 * @param cost estimated seconds of a job that is not done; 0 for one that is
 * @returns blocks: those of a start and a seed that are whole in the selection, of how many (`allBlocks`)
 */
export const fitBudget = (
  jobs: readonly Job[],
  cost: (job: Job) => number,
  width: number,
  budgetSeconds: number,
) => {
  const allBlocks = 1 + Math.max(-1, ...jobs.map(({ block }) => block))
  const upTo = (blocks: number) => jobs.filter(({ block }) => block < blocks)
  const secondsOf = (blocks: number) => wallSeconds(upTo(blocks).map(cost), width)
  let blocks = 0
  while (blocks < allBlocks && secondsOf(blocks + 1) <= budgetSeconds) blocks++
  return { chosen: upTo(blocks), blocks, allBlocks, seconds: secondsOf(blocks) }
}
