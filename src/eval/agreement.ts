/** @file How far raters agree: percent agreement, Cohen's and Fleiss' kappa, Kendall's W; intervals by bootstrap over items. */

import { countEach } from '../util/descriptive.ts'
import { DataError } from '../util/errors.ts'
import { type BootstrapOptions, bootstrapInterval, type Estimate } from '../util/intervals.ts'

/** What a rater said about an item; null where nothing was said. */
export type Rating = string | number | boolean | null

/** Items as rows, raters as columns; every row has the same raters in the same order. */
export type Ratings_I_R = readonly (readonly Rating[])[]

/**
 * Share of pairs of raters that said the same, over items: per item among those who rated it, then the mean over items with
 * at least two ratings. Null where no item has two.
 * @example
 * percentAgreement([[true, true], [true, false]]) // 0.5
 */
export const percentAgreement = (ratings_I_R: Ratings_I_R): number | null => {
  const shares = ratings_I_R.flatMap(row => pairAgreement(row) ?? [])
  return shares.length > 0 ? sum(shares) / shares.length : null
}

const pairAgreement = (row: readonly Rating[]): number | null => {
  const given = row.filter(rating => rating !== null)
  const counts = [...countEach(given).values()]
  const n = given.length
  return n < 2 ? null : sum(counts.map(count => count * (count - 1))) / (n * (n - 1))
}

/**
 * Cohen's kappa of two raters (Cohen 1960): (observed - expected) / (1 - expected), expected from each rater's own
 * distribution. Items that either left out are left out. Null where it is undefined: no items, or chance alone explains all.
 * @throws DataError for lists of different length
 * @example
 * cohenKappa([true, true, false, false], [true, false, false, false]) // 0.5
 */
export const cohenKappa = (first: readonly Rating[], second: readonly Rating[]): number | null => {
  if (first.length !== second.length)
    throw new DataError(
      `cohenKappa: expected both raters on the same items, got ${first.length} and ${second.length}; pair their ratings`,
    )
  const pairs = first.flatMap((rating, i) =>
    rating === null || second[i] === null ? [] : [[rating, second[i]] as const],
  )
  const n = pairs.length
  if (n === 0) return null
  const observed = pairs.filter(([a, b]) => a === b).length / n
  const counts = [countEach(pairs.map(([a]) => a)), countEach(pairs.map(([, b]) => b))]
  const expected = sum(
    [...counts[0]].map(([rating, count]) => (count / n) * ((counts[1].get(rating) ?? 0) / n)),
  )
  return chanceCorrected(observed, expected)
}

/**
 * Fleiss' kappa of any number of raters (Fleiss 1971): mean agreement of pairs within an item against that expected from
 * the categories' shares over all. Items rated by fewer than two are left out; where the number of raters differs between items, an
 * item counts by its own pairs. Null where it is undefined.
 * @example
 * fleissKappa([[true, true], [false, false], [true, false]]) // 0.3333
 */
export const fleissKappa = (ratings_I_R: Ratings_I_R): number | null => {
  const rated = ratings_I_R.filter(row => pairAgreement(row) !== null)
  const observed = percentAgreement(rated)
  if (observed === null) return null
  const all = rated.flat().filter(rating => rating !== null)
  const expected = sum([...countEach(all).values()].map(count => (count / all.length) ** 2))
  return chanceCorrected(observed, expected)
}

const chanceCorrected = (observed: number, expected: number): number | null =>
  1 - expected < 1e-12 ? null : (observed - expected) / (1 - expected)

/**
 * Kendall's W, the coefficient of concordance, corrected for ties (Kendall and Babington Smith 1939; Siegel 1956):
 * 12 S / (m^2 (n^3 - n) - m T), with S the squared deviations of the items' rank sums, m raters, n items, and
 * T the sum of t^3 - t over every rater's groups of t tied items. 1: all rank alike; 0: no concordance.
 * @param scores_R_I [rater][item]: scores, of which higher is better, or ranks; only their order counts
 * @returns null where undefined: fewer than two raters or items, or every rater ties all
 * @throws DataError for ragged scores or one that is not finite
 * @example
 * kendallW([[1, 2, 3], [1, 2, 3]]) // 1
 */
export const kendallW = (scores_R_I: readonly (readonly number[])[]): number | null => {
  const m = scores_R_I.length
  const n = scores_R_I[0]?.length ?? 0
  if (scores_R_I.some(scores => scores.length !== n || !scores.every(Number.isFinite)))
    throw new DataError(
      'kendallW: expected a finite score from every rater for every item, got a gap; leave such items out for all raters',
    )
  if (m < 2 || n < 2) return null
  const ranks_R_I = scores_R_I.map(midranks)
  const rankSums = ranks_R_I[0].map((_, item) => sum(ranks_R_I.map(ranks => ranks[item])))
  const centre = (m * (n + 1)) / 2
  const s = sum(rankSums.map(rankSum => (rankSum - centre) ** 2))
  const ties = sum(ranks_R_I.map(ranks => sum([...countEach(ranks).values()].map(t => t ** 3 - t))))
  const denominator = m * m * (n ** 3 - n) - m * ties
  return denominator <= 0 ? null : (12 * s) / denominator
}

/**
 * Ranks from 1; tied values share the mean of the ranks that they take up.
 * @throws DataError for NaN, which has no rank
 * @example
 * midranks([3, 1, 3]) // [ 2.5, 1, 2.5 ]
 */
export const midranks = (values: readonly number[]): number[] => {
  if (values.some(Number.isNaN))
    throw new DataError('midranks: expected values in an order, got NaN; leave such items out')
  const order = values.map((_, index) => index).sort((a, b) => values[a] - values[b])
  const ranks = new Array<number>(values.length)
  for (let from = 0; from < order.length; ) {
    let to = from
    while (to < order.length && values[order[to]] === values[order[from]]) to++
    for (let i = from; i < to; i++) ranks[order[i]] = (from + 1 + to) / 2
    from = to
  }
  return ranks
}

/** A statistic of agreement between raters, undefined for some samples. */
export type AgreementStatistic = (ratings_I_R: Ratings_I_R) => number | null

/**
 * Percentile bootstrap interval of an agreement statistic over items. A resample on which it is undefined because all raters
 * said one thing throughout counts as full agreement, 1; one in which no item has two ratings is left out.
 * @param statistic for example `fleissKappa`, or `([...]) => cohenKappa(...)` of two columns
 * @returns null where the statistic of the data itself is undefined
 * @example
 * const rows = [[true, true], [true, false]]
 * agreementInterval(percentAgreement, rows) // { estimate: 0.5, low: 0, high: 1, level: 0.95 }
 */
export const agreementInterval = (
  statistic: AgreementStatistic,
  ratings_I_R: Ratings_I_R,
  options: BootstrapOptions = {},
): Estimate | null => {
  if (ratings_I_R.length === 0 || statistic(ratings_I_R) === null) return null
  const items = ratings_I_R.map((_, index) => index)
  return bootstrapInterval(items, { resamples: 2000, ...options }, sample => {
    const resampled = Array.from(sample, index => ratings_I_R[index])
    return statistic(resampled) ?? (percentAgreement(resampled) === 1 ? 1 : null)
  })
}

/** Cohen's kappa of the first two columns, as a statistic of rows. */
export const cohenKappaOfRows: AgreementStatistic = ratings_I_R =>
  cohenKappa(
    ratings_I_R.map(([first]) => first),
    ratings_I_R.map(([, second]) => second),
  )

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
