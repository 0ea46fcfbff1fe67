/**
 * @file Intervals of pairs' differences.
 *
 * Over pairs: a percentile bootstrap, expanded to the width that so few pairs need (Hesterberg 2015): its tails are
 * Phi(-sqrt(n / (n - 1)) t) with t of n - 1 degrees of freedom, .009 instead of .025 for ten pairs, whose plain percentile
 * interval covers nine times in ten.
 *
 * Against the start all pairs of a cold start share its one value, and resampling pairs cannot show its error. So it is added
 * (MOVER, Zou and Donner 2008): with E the standard error of the mean difference that comes from the starts' values, an end at
 * distance D of the mean goes to sqrt(D^2 + (z E)^2), and E^2 = sum over starts of (share of the pairs)^2 (the value's error)^2.
 */

import { Rng } from '../../util/rng.ts'
import { studentQuantile } from '../../util/special.ts'
import { normalCdf, normalQuantile, quantileOfSorted } from '../../util/statistics.ts'

const RESAMPLES = 10_000

/** Means of resampled pairs in ascending order; what intervals of all levels are read from. */
export const resampledMeans = (differences: readonly number[]): Float64Array => {
  const rng = new Rng('experiment/bootstrap')
  const n = differences.length
  const means = new Float64Array(RESAMPLES)
  for (let r = 0; r < RESAMPLES; r++) {
    let sum = 0
    for (let i = 0; i < n; i++) sum += differences[rng.int(n)]
    means[r] = sum / n
  }
  return means.sort()
}

const percentile = (means: Float64Array, tail: number): [number, number] => [
  quantileOfSorted(means, tail),
  quantileOfSorted(means, 1 - tail),
]

/** Percentile bootstrap interval of 95% over pairs, as it is: too narrow for few pairs. */
export const plainInterval = (means: Float64Array): [number, number] => percentile(means, 0.025)

/** The same at a level, expanded for so few pairs. */
export const expandedInterval = (means: Float64Array, pairs: number, level: number): [number, number] => {
  const tail = 0.5 - level / 2
  if (pairs < 2) return percentile(means, tail)
  const t = studentQuantile(1 - tail, pairs - 1)
  return percentile(means, normalCdf(-Math.sqrt(pairs / (pairs - 1)) * t))
}

/** An interval with an error beside that is independent of what it was made of. @param error standard error */
export const widened = (
  [low, high]: readonly [number, number],
  centre: number,
  error: number,
  level: number,
): [number, number] => {
  if (error === 0) return [low, high]
  const reach = normalQuantile(0.5 + level / 2) * error
  return [centre - Math.hypot(centre - low, reach), centre + Math.hypot(high - centre, reach)]
}
