/** @file Two models on the same problems, pair by pair: differences with intervals and p, problems won, lost and tied. */

import type { CountedValue } from '../recipes/common/task-kind.ts'
import type { Interval } from '../runs/rows.ts'
import { mcNemarExact, signFlipTest } from '../util/significance.ts'
import { wilsonInterval } from '../util/statistics.ts'
import { type Measured, type MeasuredMetric, type MetricName, weightedMetric } from './metrics.ts'

export interface PairedMetric {
  /** Problems of which both have the metric. */
  n: number
  /** Of those problems alone. */
  a: number
  b: number
  /** a - b. */
  difference: number
  /** 95%, over problems; null for fewer than two. */
  interval: Interval | null
  /** Two-sided, of no difference. */
  p: number
  /** McNemar's exact test of shares that are right or wrong on each problem; else sign flips of the differences. */
  test: 'McNemar' | 'sign flips'
  won: number
  lost: number
  tied: number
}

export interface Pair {
  id: string
  a: number
  b: number
  weight: number
}

/** A metric of both on the problems that both have. */
const pairsOf = (a: Measured, b: Measured, name: string): Pair[] => {
  const others = new Map(b.items.map(({ id, values }) => [id, values[name] as CountedValue | undefined]))
  return a.items.flatMap(({ id, values }) => {
    const [own, other] = [values[name] as CountedValue | undefined, others.get(id)]
    if (own?.value == null || other?.value == null) return []
    return [{ id, a: own.value, b: other.value, weight: own.weight ?? 1 }]
  })
}

/** Enough for p to three digits; fewer differences than 13 are enumerated. */
const FLIPS = 20_000

const testOf = (pairs: readonly Pair[], differences: readonly number[]): Pick<PairedMetric, 'p' | 'test'> => {
  const isRightOrWrong = pairs.every(
    ({ a, b, weight }) => weight === 1 && (a === 0 || a === 1) && (b === 0 || b === 1),
  )
  if (!isRightOrWrong) return { p: signFlipTest(differences, { draws: FLIPS }), test: 'sign flips' }
  const count = (sign: number) => differences.filter(difference => difference === sign).length
  return { p: mcNemarExact(count(1), count(-1)), test: 'McNemar' }
}

/**
 * Of shares that are alike on all of n problems resampling finds nothing but 0: then they may differ on as many as a share of 0 of n
 * may stand for (Wilson), each way.
 */
const intervalOf = (
  differences: readonly number[],
  { interval }: MeasuredMetric,
  unit: MetricName['unit'],
) => {
  if (interval === null || unit !== 'share' || differences.some(difference => difference !== 0))
    return interval
  const { high } = wilsonInterval(0, differences.length)
  return [-high, high] as const
}

/** Null where they have no problem in common. */
const pairedMetric = (pairs: readonly Pair[], unit: MetricName['unit']): PairedMetric | null => {
  if (pairs.length === 0) return null
  const weights = pairs.map(({ weight }) => weight)
  const differences = pairs.map(({ a, b }) => a - b)
  const metric = weightedMetric(differences, weights)
  const meanOf = (values: readonly number[]) =>
    values.reduce((sum, own, i) => sum + weights[i] * own, 0) /
    weights.reduce((sum, weight) => sum + weight, 0)
  return {
    n: pairs.length,
    a: meanOf(pairs.map(({ a }) => a)),
    b: meanOf(pairs.map(({ b }) => b)),
    difference: metric.value!,
    interval: intervalOf(differences, metric, unit),
    ...testOf(
      pairs,
      differences.map((difference, i) => weights[i] * difference),
    ),
    won: differences.filter(difference => difference > 0).length,
    lost: differences.filter(difference => difference < 0).length,
    tied: differences.filter(difference => difference === 0).length,
  }
}

/** Every metric of `a` less that of `b`. */
export const pairedDifferences = (
  a: Measured,
  b: Measured,
  names: readonly MetricName[],
): Record<string, PairedMetric | null> =>
  Object.fromEntries(names.map(({ name, unit }) => [name, pairedMetric(pairsOf(a, b, name), unit)]))
