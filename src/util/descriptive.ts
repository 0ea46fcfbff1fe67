/** @file Plain descriptive statistics over arrays of numbers. */

import { DataError } from './errors.ts'

/** Arithmetic mean; NaN for an empty list. */
export const mean = (xs: ArrayLike<number>): number => {
  let sum = 0
  for (let i = 0; i < xs.length; i++) sum += xs[i]
  return sum / xs.length
}

/** How often each item occurs, in the order in which they came first. */
export const countEach = <T>(items: Iterable<T>): Map<T, number> => {
  const counts = new Map<T, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return counts
}

/** Values by their names, in the order in which those came first. */
export const valuesByName = <T>(pairs: Iterable<readonly [name: string, value: T]>): [string, T[]][] => {
  const lists = new Map<string, T[]>()
  for (const [name, value] of pairs) {
    const known = lists.get(name)
    if (known) known.push(value)
    else lists.set(name, [value])
  }
  return [...lists]
}

/** Mean of the values that are known; null where none is. */
export const meanKnown = (values: readonly (number | null | undefined)[]): number | null => {
  const known = values.filter(value => value !== null && value !== undefined)
  return known.length > 0 ? mean(known) : null
}

/** The largest value, and no less than `least`. As many as a data set has are too many to be arguments of `Math.max`. */
export const largestOf = (values: Iterable<number>, least = Number.NEGATIVE_INFINITY): number => {
  let largest = least
  for (const value of values) if (value > largest) largest = value
  return largest
}

/** Variance with `ddof` 0 (population) or 1 (sample); NaN where there are not more than `ddof` values. */
export const variance = (xs: ArrayLike<number>, ddof: 0 | 1 = 0): number => {
  if (xs.length <= ddof) return Number.NaN
  const centre = mean(xs)
  let sum = 0
  for (let i = 0; i < xs.length; i++) sum += (xs[i] - centre) ** 2
  return sum / (xs.length - ddof)
}

/** Standard deviation with `ddof` 0 (population) or 1 (sample). */
export const std = (xs: ArrayLike<number>, ddof: 0 | 1 = 0): number => Math.sqrt(variance(xs, ddof))

/**
 * Quantile `q` in [0, 1] by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996, numpy's default).
 * @throws DataError for an empty list or a `q` outside [0, 1].
 */
export const quantile = (xs: ArrayLike<number>, q: number): number =>
  quantileOfSorted(Float64Array.from(xs).sort(), q)

/** `quantile` of values that are already in ascending order. */
export const quantileOfSorted = (sorted: ArrayLike<number>, q: number): number => {
  if (sorted.length === 0)
    throw new DataError('quantile: expected at least one value, got none; check that the data is not empty')
  if (!(q >= 0 && q <= 1))
    throw new DataError(`quantile: expected q in [0, 1], got ${q}; give a share, not a percentage`)
  const position = q * (sorted.length - 1)
  const below = Math.floor(position)
  const above = Math.min(below + 1, sorted.length - 1)
  return sorted[below] + (position - below) * (sorted[above] - sorted[below])
}

/** Median. */
export const median = (xs: ArrayLike<number>): number => quantile(xs, 0.5)

/** Rounding of a sum of n values is at most about n units in the last place of the largest; equal values deviate by no more. */
const varies = (xs: ArrayLike<number>, squaredDeviations: number): boolean => {
  let largest = 0
  for (let i = 0; i < xs.length; i++) largest = Math.max(largest, Math.abs(xs[i]))
  return squaredDeviations > xs.length * (xs.length * Number.EPSILON * largest) ** 2
}

/**
 * Pearson correlation; for two binary vectors this is phi (RLCER Eq. 7). Null where it is undefined: fewer than two pairs,
 * or a vector without variance beyond what rounding leaves.
 * @throws DataError when the lengths differ.
 */
export const pearson = (xs: ArrayLike<number>, ys: ArrayLike<number>): number | null => {
  if (xs.length !== ys.length)
    throw new DataError(
      `pearson: expected two lists of one length, got ${xs.length} and ${ys.length}; pair the values`,
    )
  const meanX = mean(xs)
  const meanY = mean(ys)
  let xy = 0
  let xx = 0
  let yy = 0
  for (let i = 0; i < xs.length; i++) {
    const dx = xs[i] - meanX
    const dy = ys[i] - meanY
    xy += dx * dy
    xx += dx * dx
    yy += dy * dy
  }
  if (!(varies(xs, xx) && varies(ys, yy)) || xs.length < 2) return null
  return Math.max(-1, Math.min(1, xy / Math.sqrt(xx * yy)))
}

/**
 * Rounds to the nearest integer, halves to even: 2.5 -> 2, 3.5 -> 4, -2.5 -> -2. `Math.round` would give 3, 4, -2,
 * which differs from every Python implementation of the methods built here (RuscaRL Eq. 3: `n_show`).
 */
export const roundHalfToEven = (x: number): number => {
  const below = Math.floor(x)
  const fraction = x - below
  if (fraction < 0.5) return below
  if (fraction > 0.5) return below + 1
  if (fraction !== 0.5) return x // NaN and infinities pass through
  return below % 2 === 0 ? below : below + 1
}
