/** @file Two evaluations of the same problems compared pair by pair, with a bootstrap interval over problems. */

import { Rng } from '../../util/rng.ts'
import type { EvalItem, EvalRow, Interval } from '../rows.ts'

/** The scores that items may carry. */
export type ItemScore = Exclude<keyof EvalItem, 'id' | 'criteria'>

export interface PairedDifference {
  /** Problems in both evaluations. */
  n: number
  before: number
  after: number
  /** after - before. */
  difference: number
  /** 95% percentile interval of the difference over resampled problems. */
  interval: Interval
}

const RESAMPLES = 2_000

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** 95% percentile bootstrap interval of a mean; seeded, so that a report is the same each time. */
export const bootstrapInterval = (values: readonly number[], resamples = RESAMPLES): Interval => {
  const rng = new Rng('paired')
  const means = Float64Array.from({ length: resamples }, () => {
    let sum = 0
    for (let i = 0; i < values.length; i++) sum += values[rng.int(values.length)]
    return sum / values.length
  }).sort()
  return [means[Math.floor(0.025 * (resamples - 1))], means[Math.ceil(0.975 * (resamples - 1))]]
}

/**
 * Paired difference `after - before` of one score over the problems that both have; null when they share none or one of
 * them lacks the score. Samples of a problem are averaged already, so problems are the units (cluster bootstrap).
 */
export const pairedDifference = (
  before: EvalRow | undefined,
  after: EvalRow | undefined,
  score: ItemScore,
): PairedDifference | null => {
  return pairedBy(before, after, item => item[score])
}

/** The same for one criterion, over the problems for which both have a value. */
export const pairedCriterion = (
  before: EvalRow | undefined,
  after: EvalRow | undefined,
  id: string,
): PairedDifference | null => pairedBy(before, after, item => item.criteria?.[id])

const pairedBy = (
  before: EvalRow | undefined,
  after: EvalRow | undefined,
  scoreOf: (item: EvalItem) => number | null | undefined,
): PairedDifference | null => {
  const earlier = new Map(before?.items?.map(item => [item.id, scoreOf(item)]))
  const pairs = (after?.items ?? []).flatMap(item => {
    const a = earlier.get(item.id)
    const b = scoreOf(item)
    return typeof a !== 'number' || typeof b !== 'number' ? [] : [[a, b] as const]
  })
  if (pairs.length < 2) return null
  const differences = pairs.map(([a, b]) => b - a)
  return {
    n: pairs.length,
    before: mean(pairs.map(([a]) => a)),
    after: mean(pairs.map(([, b]) => b)),
    difference: mean(differences),
    interval: bootstrapInterval(differences),
  }
}
