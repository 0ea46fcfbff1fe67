/**
 * @file Intervals of pairs' differences.
 *
 * Over pairs: a percentile bootstrap, expanded to the width that so few pairs need (Hesterberg 2015): its tails are
 * Phi(-sqrt(n / (n - 1)) t) with t of n - 1 degrees of freedom, .009 instead of .025 for ten pairs, whose plain percentile
 * interval covers nine times in ten.
 *
 * Against the start all pairs of a cold start share its one figure, and resampling pairs cannot show its error. So it is added
 * (MOVER, Zou and Donner 2008): with E the standard error of the mean difference that comes from the starts' figures, an end at
 * distance D of the mean goes to sqrt(D^2 + (z E)^2), and E^2 = sum over starts of (share of the pairs)^2 (the figure's error)^2.
 */

import { bootstrapInterval, normalCdf, normalQuantile } from '../../util/statistics.ts'
import { studentQuantile } from '../../util/student.ts'

const RESAMPLES = { resamples: 10_000, seed: 'experiment' } as const

/** Percentile bootstrap interval over pairs, as it is: too narrow for few pairs. */
export const plainInterval = (differences: readonly number[]): [number, number] => {
  const { low, high } = bootstrapInterval(differences, RESAMPLES)
  return [low, high]
}

/** The same, expanded for few pairs. @param level coverage */
export const expandedInterval = (differences: readonly number[], level: number): [number, number] => {
  const n = differences.length
  if (n < 2) return plainInterval(differences)
  const t = studentQuantile(0.5 + level / 2, n - 1)
  const tail = normalCdf(-Math.sqrt(n / (n - 1)) * t)
  const { low, high } = bootstrapInterval(differences, { ...RESAMPLES, level: 1 - 2 * tail })
  return [low, high]
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
