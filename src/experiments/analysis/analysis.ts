/**
 * @file The statistics of a claim, from pairs of runs: pure functions, no files, no clock.
 *
 * A pair is one cold start with one seed, run under both arms. The observations are the pairs' differences; starts and seeds
 * are crossed, so a claim has starts x seeds of them. They are exchangeable given these starts: what they show is of these, and
 * whether the starts differ is tested apart.
 */

import { type Estimate, type RobustEstimate, trimmedMean } from '../../util/intervals.ts'
import { mcNemarExact, mean, normalQuantile, std, wilsonInterval } from '../../util/statistics.ts'
import type { Direction } from '../plan/registration.ts'
import { betweenStartsTest } from './between-starts.ts'
import { DETECTED_POWER, detectableEffect } from './detectable.ts'
import { expandedInterval, plainInterval, resampledMeans, widened } from './pair-intervals.ts'
import { contraryTest, directionTest, marginTests } from './pair-tests.ts'

/** Fewer pairs than this say nothing, whatever their differences: no exact test of theirs can reach 5%. */
export const MIN_PAIRS = 6

/** Level of intervals and tests; Holm's correction is over the claims of a paper. */
export const LEVEL = 0.05

/** The two runs of a cold start and a seed. `b` is the reference where a claim has no second arm. */
export interface RunPair {
  start: string
  seed: string
  a: number
  b: number
}

/** What pairs say by themselves: earlier rules decided by that. */
export interface PairsAlone {
  /** 95% percentile bootstrap interval over pairs (10,000 resamples). */
  interval: [number, number]
  p: number
  pContrary: number
}

/** Two one-sided tests against the margin of a claim (Schuirmann 1987). */
export interface MarginStatistics {
  margin: number
  /** p that the difference is not below -margin, and not above +margin; null where the direction does not ask. */
  notBelow: number | null
  notAbove: number | null
  /** The interval that lies within the margin where both tests pass at 5%: 90%. */
  interval: [number, number]
}

export interface PairStatistics {
  n: number
  meanA: number
  meanB: number
  /** Mean of a - b, and its 95% interval: see pair-intervals.ts. */
  difference: number
  interval: [number, number]
  /** Sample standard deviation of the differences; null for one pair. */
  sd: number | null
  /** Standard error of the mean that comes from the starts' own values; null where they are not compared with, or not known. */
  startError: number | null
  /** Sign-flip permutation test of what the claim says; exact for at most 12 pairs. */
  p: number
  /** Sign-flip permutation test of the contrary: see `contraryTest`. */
  pContrary: number
  pairsAlone: PairsAlone
  /** For `equal`, `not-above` and `not-below`; else null. */
  margin: MarginStatistics | null
  /** 20% trimmed mean of the differences with its 95% interval: what one run of ten that collapses does not move far. */
  robust: RobustEstimate
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

/** Whether a direction is about a margin that is to be kept. */
export const isMargin = (direction: Direction): direction is 'equal' | 'not-above' | 'not-below' =>
  direction !== 'greater' && direction !== 'less'

/** How pairs are to be compared. */
export interface PairTest {
  direction: Direction
  smallestEffect: number
  /** That p has to stay below: 5% shared out among the tests of its family. */
  level?: number
  /** See `sharedErrorOf`. */
  startError?: number | null
}

const differencesOf = (pairs: readonly RunPair[]): number[] => pairs.map(({ a, b }) => a - b)

const byStart = (pairs: readonly RunPair[]): Map<string, number[]> => {
  const starts = [...new Set(pairs.map(({ start }) => start))]
  return new Map(starts.map(start => [start, differencesOf(pairs.filter(pair => pair.start === start))]))
}

const marginOf = (
  differences: readonly number[],
  means: Float64Array,
  { direction, smallestEffect: margin }: PairTest,
  error: number,
): MarginStatistics | null => {
  if (!isMargin(direction)) return null
  const { notBelow, notAbove } = marginTests(differences, margin, error)
  const level = 1 - 2 * LEVEL
  return {
    margin,
    notBelow: direction === 'not-above' ? null : notBelow,
    notAbove: direction === 'not-below' ? null : notAbove,
    interval: widened(expandedInterval(means, differences.length, level), mean(differences), error, level),
  }
}

const robustOf = (differences: readonly number[], error: number): RobustEstimate => {
  const { estimate, interval } = trimmedMean(differences)
  return { estimate, interval: interval && widened(interval, estimate, error, 1 - LEVEL) }
}

/** What pairs detect, and beside it what the start's error lets be detected, as independent errors. */
const detectableOf = (
  sd: number | null,
  n: number,
  { direction, level = LEVEL }: PairTest,
  error: number,
): number | null => {
  const pairs = sd === null ? null : detectableEffect(sd, n, level, direction)
  const tail = isMargin(direction) ? level : level / 2
  return pairs && Math.hypot(pairs, (normalQuantile(1 - tail) + normalQuantile(DETECTED_POWER)) * error)
}

/** Statistics of the pairs; null for none. */
export const comparePairs = (pairs: readonly RunPair[], test: PairTest): PairStatistics | null => {
  if (pairs.length === 0) return null
  const { direction, smallestEffect, startError = null } = test
  const error = startError ?? 0
  const differences = differencesOf(pairs)
  const difference = mean(differences)
  const sd = pairs.length > 1 ? std(differences, 1) : null
  const starts = byStart(pairs)
  const means = resampledMeans(differences)
  const testsWith = (shared: number) => ({
    p: directionTest(differences, direction, smallestEffect, shared),
    pContrary: contraryTest(differences, direction, smallestEffect, shared),
  })
  const alone = testsWith(0)
  return {
    n: pairs.length,
    meanA: mean(pairs.map(({ a }) => a)),
    meanB: mean(pairs.map(({ b }) => b)),
    difference,
    interval: widened(expandedInterval(means, pairs.length, 1 - LEVEL), difference, error, 1 - LEVEL),
    sd,
    startError,
    ...(error === 0 ? alone : testsWith(error)),
    pairsAlone: { interval: plainInterval(means), ...alone },
    margin: marginOf(differences, means, test, error),
    robust: robustOf(differences, error),
    detectable: detectableOf(sd, pairs.length, test, error),
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
  const { estimate, low, high }: Estimate = wilsonInterval(hits, values.length)
  return { n: values.length, hits, share: estimate, interval: [low, high] }
}

/**
 * Value at what was spent: linear between evaluations, null beyond the last one. What a comparison at equal tokens, or in equal
 * time, reads.
 * @param points values with the tokens generated, or the seconds trained, until then; ascending
 */
export const valueAtCost = (
  points: readonly { cost: number; value: number }[],
  cost: number,
): number | null => {
  const after = points.findIndex(point => point.cost >= cost)
  if (after < 0) return null
  const next = points[after]
  const before = points[after - 1]
  if (next.cost === cost || before === undefined) return next.cost === cost ? next.value : null
  const share = (cost - before.cost) / (next.cost - before.cost)
  return before.value + share * (next.value - before.value)
}
