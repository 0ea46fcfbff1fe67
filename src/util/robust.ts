/** @file The trimmed mean with its interval: a centre that one value of ten, or two, cannot move far. */

import { mean, variance } from './descriptive.ts'
import { DataError } from './errors.ts'
import { studentQuantile } from './student.ts'

export interface RobustEstimate {
  estimate: number
  /** Null where fewer than two values are left. */
  interval: [number, number] | null
}

/**
 * Mean of what is left when a share of the values is cut at either end. Its interval takes the spread of the values with those that
 * were cut put at the last that was not (winsorised), and Student's t of what is left (Tukey and McLaughlin 1963, Yuen 1974).
 * @param share cut at either end, rounded down to whole values: two of ten for .2
 * @param level coverage
 * @throws DataError for no values
 */
export const trimmedMean = (
  values: readonly number[],
  { share = 0.2, level = 0.95 }: { share?: number; level?: number } = {},
): RobustEstimate => {
  if (values.length === 0)
    throw new DataError('trimmedMean: expected at least one value, got none; leave the comparison out')
  const sorted = values.toSorted((a, b) => a - b)
  const n = sorted.length
  const cut = Math.floor(share * n)
  const left = sorted.slice(cut, n - cut)
  const estimate = mean(left)
  if (left.length < 2) return { estimate, interval: null }
  const winsorised = sorted.map(value => Math.min(Math.max(value, left[0]), left[left.length - 1]))
  // (n - 1) / (h (h - 1)) of the winsorised variance is the trimmed mean's (Yuen 1974).
  const error = Math.sqrt(((n - 1) * variance(winsorised, 1)) / (left.length * (left.length - 1)))
  const reach = studentQuantile(0.5 + level / 2, left.length - 1) * error
  return { estimate, interval: [estimate - reach, estimate + reach] }
}
