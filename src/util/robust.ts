/** @file The Hodges-Lehmann estimate with its exact interval: a centre that one value of ten cannot move far. */

import { median } from './descriptive.ts'
import { DataError } from './errors.ts'

/** P(T <= k) of Wilcoxon's signed-rank statistic of n values without ties, by k. */
const signedRankCdf = (n: number): Float64Array => {
  const most = (n * (n + 1)) / 2
  const shares = new Float64Array(most + 1)
  shares[0] = 1
  for (let rank = 1; rank <= n; rank++)
    for (let sum = most; sum >= 0; sum--)
      shares[sum] = 0.5 * (shares[sum] + (sum >= rank ? shares[sum - rank] : 0))
  for (let sum = 1; sum <= most; sum++) shares[sum] += shares[sum - 1]
  return shares
}

export interface RobustEstimate {
  estimate: number
  /** Null where so few values have no interval at the level. */
  interval: [number, number] | null
}

/**
 * Median of the means of all pairs of values, each with itself too (Hodges and Lehmann 1963). Its interval is made of these means
 * and holds the level exactly for symmetric noise (inverted signed-rank test, Tukey 1949); 29% of the values may be anything.
 * @param level coverage, at least that of the interval
 * @throws DataError for no values
 */
export const hodgesLehmann = (values: readonly number[], level = 0.95): RobustEstimate => {
  if (values.length === 0)
    throw new DataError('hodgesLehmann: expected at least one value, got none; leave the comparison out')
  const means = values.flatMap((x, i) => values.slice(i).map(y => (x + y) / 2)).sort((a, b) => a - b)
  const tail = (1 - level) / 2
  // As many means as may lie outside on either side.
  const outside = signedRankCdf(values.length).findLastIndex(share => share <= tail) + 1
  return {
    estimate: median(means),
    interval: outside === 0 ? null : [means[outside - 1], means[means.length - outside]],
  }
}
