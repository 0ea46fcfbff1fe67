/**
 * @file The statistics of a claim, from pairs of runs: pure functions, no files, no clock (spec 1.7, 10.2).
 *
 * A pair is one cold start with one seed, run under both arms. The observations are the pairs' differences; starts and seeds
 * are crossed, so a claim has starts x seeds of them. They are exchangeable given these starts: what they show is of these, and
 * whether the starts differ is tested apart.
 */

import type { Interval } from '../../util/intervals.ts'
import {
  bootstrapInterval,
  mcNemarExact,
  mean,
  signFlipTest,
  std,
  wilsonInterval,
} from '../../util/statistics.ts'
import type { Direction } from '../plan/registration.ts'
import { betweenStartsTest } from './between-starts.ts'
import { detectableEffect } from './detectable.ts'

/** Fewer pairs than this say nothing, whatever their differences: no exact test of theirs can reach 5%. */
export const MIN_PAIRS = 6

/** Level of intervals and tests; Holm's correction is over the claims of a paper. */
export const LEVEL = 0.05

/** The two runs of a cold start and a seed. `b` is the reference where a claim has no second arm. */
export interface Pair {
  start: string
  seed: string
  a: number
  b: number
}

export interface PairStatistics {
  n: number
  meanA: number
  meanB: number
  /** Mean of a - b, and its 95% percentile bootstrap interval over pairs (10,000 resamples). */
  difference: number
  interval: [number, number]
  /** Sample standard deviation of the differences; null for one pair. */
  sd: number | null
  /** Sign-flip permutation test of what the claim says; exact for at most 12 pairs. */
  p: number
  /** Sign-flip permutation test of the contrary: see `contraryTest`. */
  pContrary: number
  /**
   * Smallest true difference that so many pairs with this spread find with 80% power, at the level that p has to pass as the first
   * of its family; with a margin, the smallest one that they can show. Null for none: one pair, or too few for the level.
   */
  detectable: number | null
  /** Mean difference by cold start. */
  byStart: Record<string, number>
  /** Permutation test that the cold starts have one mean difference; null for one start, or one pair of a start. */
  startsP: number | null
}

const differencesOf = (pairs: readonly Pair[]): number[] => pairs.map(({ a, b }) => a - b)

const shiftedTest = (differences: readonly number[], by: number, alternative: 'greater' | 'less'): number =>
  signFlipTest(
    differences.map(d => d + by),
    { alternative },
  )

/**
 * The test of a direction. `greater`, `less`: two-sided against no difference. The others are tests that the difference is
 * not beyond the margin (non-inferiority; two one-sided tests for `equal`).
 */
export const directionTest = (
  differences: readonly number[],
  direction: Direction,
  margin: number,
): number => {
  const notBelow = () => shiftedTest(differences, margin, 'greater')
  const notAbove = () => shiftedTest(differences, -margin, 'less')
  switch (direction) {
    case 'greater':
    case 'less':
      return signFlipTest(differences)
    case 'not-below':
      return notBelow()
    case 'not-above':
      return notAbove()
    case 'equal':
      return Math.max(notBelow(), notAbove())
  }
}

/**
 * The test that a claim is wrong. `greater`, `less`: one-sided, against an effect of the size that matters. The others: that the
 * difference lies beyond the margin, for `equal` on either side (twice the smaller p).
 */
export const contraryTest = (
  differences: readonly number[],
  direction: Direction,
  smallestEffect: number,
): number => {
  const below = (bound: number) => shiftedTest(differences, -bound, 'less')
  const above = (bound: number) => shiftedTest(differences, -bound, 'greater')
  switch (direction) {
    case 'greater':
      return below(smallestEffect)
    case 'less':
      return above(-smallestEffect)
    case 'not-below':
      return below(-smallestEffect)
    case 'not-above':
      return above(smallestEffect)
    case 'equal':
      return Math.min(1, 2 * Math.min(above(smallestEffect), below(-smallestEffect)))
  }
}

const byStart = (pairs: readonly Pair[]): Map<string, number[]> => {
  const starts = [...new Set(pairs.map(({ start }) => start))]
  return new Map(starts.map(start => [start, differencesOf(pairs.filter(pair => pair.start === start))]))
}

/**
 * Statistics of the pairs; null for none.
 * @param level that p has to stay below: 5% shared out among the tests of its family
 */
export const comparePairs = (
  pairs: readonly Pair[],
  direction: Direction,
  smallestEffect: number,
  level = LEVEL,
): PairStatistics | null => {
  if (pairs.length === 0) return null
  const differences = differencesOf(pairs)
  const { estimate, low, high } = bootstrapInterval(differences, { resamples: 10_000, seed: 'experiment' })
  const sd = pairs.length > 1 ? std(differences, 1) : null
  const starts = byStart(pairs)
  return {
    n: pairs.length,
    meanA: mean(pairs.map(({ a }) => a)),
    meanB: mean(pairs.map(({ b }) => b)),
    difference: estimate,
    interval: [low, high],
    sd,
    p: directionTest(differences, direction, smallestEffect),
    pContrary: contraryTest(differences, direction, smallestEffect),
    detectable: sd === null ? null : detectableEffect(sd, pairs.length, level, direction),
    byStart: Object.fromEntries([...starts].map(([start, own]) => [start, mean(own)])),
    startsP: betweenStartsTest([...starts.values()]),
  }
}

/** One pair's items, right (1) or wrong (0) by id. */
export interface ItemPair {
  a: ReadonlyMap<string, number>
  b: ReadonlyMap<string, number>
}

export interface ItemStatistics {
  /** Items of the shared test set. */
  items: number
  /** Items that more of the runs of one arm got right. */
  onlyA: number
  onlyB: number
  /** McNemar's exact test on them; about these trained models on this set, not about the training. */
  p: number
}

/**
 * McNemar's exact test over the items of a shared test set. With several pairs of runs an item counts for the arm that got it
 * right more often; with one pair this is the plain test. Null where the arms share no items.
 */
export const compareItems = (pairs: readonly ItemPair[]): ItemStatistics | null => {
  const balance = new Map<string, number>()
  for (const { a, b } of pairs)
    for (const [id, right] of a) {
      const other = b.get(id)
      if (other !== undefined) balance.set(id, (balance.get(id) ?? 0) + right - other)
    }
  if (balance.size === 0) return null
  const values = [...balance.values()]
  const onlyA = values.filter(value => value > 0).length
  const onlyB = values.filter(value => value < 0).length
  return { items: balance.size, onlyA, onlyB, p: mcNemarExact(onlyA, onlyB) }
}

export interface ShareStatistics {
  n: number
  hits: number
  share: number
  /** Wilson's 95% interval. */
  interval: [number, number]
}

/** The share of runs in which something happened; null for no runs. @param values 0 or 1 a run */
export const shareOf = (values: readonly number[]): ShareStatistics | null => {
  if (values.length === 0) return null
  const hits = values.filter(value => value === 1).length
  const { estimate, low, high }: Interval = wilsonInterval(hits, values.length)
  return { n: values.length, hits, share: estimate, interval: [low, high] }
}

/**
 * Value at a number of generated tokens: linear between evaluations, null beyond the last one. What a comparison at equal
 * tokens reads.
 * @param points values with the tokens generated until then, ascending
 */
export const valueAtTokens = (
  points: readonly { tokens: number; value: number }[],
  tokens: number,
): number | null => {
  const after = points.findIndex(point => point.tokens >= tokens)
  if (after < 0) return null
  const next = points[after]
  const before = points[after - 1]
  if (next.tokens === tokens || before === undefined) return next.tokens === tokens ? next.value : null
  const share = (tokens - before.tokens) / (next.tokens - before.tokens)
  return before.value + share * (next.value - before.value)
}
