/** @file Intervals: percentile bootstrap (plain, paired and clustered, seeds x items) and Wilson's for proportions. */

import { mean, quantileOfSorted, variance } from './descriptive.ts'
import { DataError } from './errors.ts'
import { Rng } from './rng.ts'
import { normalQuantile, studentQuantile } from './special.ts'

/** A point estimate with its interval. */
export interface Estimate {
  estimate: number
  low: number
  high: number
  /** Coverage, for example 0.95. */
  level: number
}

export interface BootstrapOptions {
  /** Number of resamples; default 10,000. */
  resamples?: number
  /** Coverage; default 0.95. */
  level?: number
  seed?: number | string
}

const percentile = (estimate: number, draws: Float64Array, level: number): Estimate => {
  draws.sort()
  const tail = (1 - level) / 2
  return { estimate, low: quantileOfSorted(draws, tail), high: quantileOfSorted(draws, 1 - tail), level }
}

const needItems = (name: string, count: number): void => {
  if (count === 0)
    throw new DataError(
      `${name}: expected at least one value, got none; check that the evaluation produced rows`,
    )
}

/**
 * Percentile bootstrap interval of a statistic of one list. Same seed, same interval. Resamples on which the
 * statistic is undefined (null) are left out.
 * @throws DataError for an empty list, or one whose own statistic is undefined.
 */
export const bootstrapInterval = (
  values: ArrayLike<number>,
  { resamples = 10_000, level = 0.95, seed = 0 }: BootstrapOptions = {},
  statistic: (sample: Float64Array) => number | null = mean,
): Estimate => {
  needItems('bootstrapInterval', values.length)
  const estimate = statistic(Float64Array.from(values))
  if (estimate === null)
    throw new DataError('bootstrapInterval: expected values on which the statistic is defined, got none such')
  const rng = new Rng(`${seed}/bootstrap`)
  const draws = new Float64Array(resamples)
  let defined = 0
  const sample = new Float64Array(values.length)
  for (let r = 0; r < resamples; r++) {
    for (let i = 0; i < sample.length; i++) sample[i] = values[rng.int(values.length)]
    const value = statistic(sample)
    if (value !== null) draws[defined++] = value
  }
  return percentile(estimate, draws.subarray(0, defined), level)
}

/**
 * Interval of mean(treated) - mean(control) for problems answered by both arms, several samples each. Samples of one
 * problem are not independent, so whole problems are resampled: each problem's mean difference is one observation
 * (cluster bootstrap). The arms may have different numbers of samples a problem.
 * @param treated_I_S scores [problem][sample]
 * @param control_I_S scores [problem][sample], the same problems in the same order
 * @throws DataError when the arms have different problems or a problem has no samples.
 */
export const pairedBootstrapInterval = (
  treated_I_S: readonly ArrayLike<number>[],
  control_I_S: readonly ArrayLike<number>[],
  options: BootstrapOptions = {},
): Estimate => bootstrapInterval(pairedDifferences(treated_I_S, control_I_S), options)

/** Mean difference per problem: the observations that paired intervals and tests work on. */
const pairedDifferences = (
  treated_I_S: readonly ArrayLike<number>[],
  control_I_S: readonly ArrayLike<number>[],
): number[] => {
  if (treated_I_S.length !== control_I_S.length)
    throw new DataError(
      `paired comparison: expected the same problems in both arms, got ${treated_I_S.length} and ${control_I_S.length}; evaluate both on one file`,
    )
  return treated_I_S.map((samples, item) => {
    if (samples.length === 0 || control_I_S[item].length === 0)
      throw new DataError(
        `paired comparison: problem ${item}: expected samples in both arms, got none; leave it out of both`,
      )
    return mean(samples) - mean(control_I_S[item])
  })
}

/**
 * Interval of the grand mean of a seeds x items table by resampling seeds and items independently (two-way bootstrap):
 * what an experiment with several seeds on one shared test set needs. With one seed it is a bootstrap over items.
 * @param values_S_I [seed][item], a full table
 * @throws DataError when empty or ragged.
 */
export const twoWayBootstrapInterval = (
  values_S_I: readonly ArrayLike<number>[],
  { resamples = 10_000, level = 0.95, seed = 0 }: BootstrapOptions = {},
): Estimate => {
  needItems('twoWayBootstrapInterval', values_S_I.length)
  const items = values_S_I[0].length
  needItems('twoWayBootstrapInterval', items)
  if (values_S_I.some(row => row.length !== items))
    throw new DataError(
      'twoWayBootstrapInterval: expected every seed to have the same items, got rows of different length; evaluate all seeds on one file',
    )
  const rng = new Rng(`${seed}/two-way`)
  const draws = new Float64Array(resamples)
  const perItem = new Float64Array(items)
  for (let r = 0; r < resamples; r++) {
    perItem.fill(0)
    for (let s = 0; s < values_S_I.length; s++) {
      const row = values_S_I[rng.int(values_S_I.length)]
      for (let i = 0; i < items; i++) perItem[i] += row[i]
    }
    let sum = 0
    for (let i = 0; i < items; i++) sum += perItem[rng.int(items)]
    draws[r] = sum / (items * values_S_I.length)
  }
  return percentile(mean(values_S_I.map(row => mean(row))), draws, level)
}

/**
 * Wilson's score interval for a proportion: right also for few trials and near 0 or 1 (Wilson 1927).
 * @throws DataError unless 0 <= successes <= trials and trials > 0.
 */
export const wilsonInterval = (successes: number, trials: number, level = 0.95): Estimate => {
  if (!(trials > 0 && successes >= 0 && successes <= trials))
    throw new DataError(
      `wilsonInterval: expected 0 <= successes <= trials with trials > 0, got ${successes} of ${trials}; check the counts`,
    )
  const z = normalQuantile(0.5 + level / 2)
  const share = successes / trials
  const denominator = 1 + (z * z) / trials
  const centre = (share + (z * z) / (2 * trials)) / denominator
  const half = (z / denominator) * Math.sqrt((share * (1 - share)) / trials + (z * z) / (4 * trials * trials))
  return {
    estimate: share,
    low: successes === 0 ? 0 : centre - half,
    high: successes === trials ? 1 : centre + half,
    level,
  }
}

/** The interval of a share; Wilson's where resampling found nothing but one value, as with one entry, and at 0 and 1. */
export const withWidth = (interval: Estimate, entries: number): Estimate =>
  interval.low < interval.high
    ? interval
    : wilsonInterval(interval.estimate * entries, entries, interval.level)

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
