/** @file Two evaluations of the same problems compared pair by pair, with a bootstrap interval over problems. */

import { bootstrapInterval, mean } from '../../util/statistics.ts'
import type { EvalItem, EvalRow, Interval } from '../rows.ts'
import { scoreValue } from '../scores.ts'

export interface PairedDifference {
  /** Problems in both evaluations. */
  n: number
  before: number
  after: number
  /** after - before. */
  difference: number
  /** 95% percentile interval of the difference over resampled problems. */
  interval: Interval
}

/**
 * Paired difference `after - before` of one score over the problems that both have; null when they share fewer than two or one
 * of them lacks the score. Samples of a problem are averaged already, so problems are the units (cluster bootstrap).
 */
export const pairedDifference = (
  before: EvalRow | undefined,
  after: EvalRow | undefined,
  score: string,
): PairedDifference | null =>
  pairedBy(before, after, { key: `score ${score}`, of: item => item.scores[score] })

/** The same for one criterion, over the problems for which both have a value. */
export const pairedCriterion = (
  before: EvalRow | undefined,
  after: EvalRow | undefined,
  id: string,
): PairedDifference | null =>
  pairedBy(before, after, { key: `criterion ${id}`, of: item => item.criteria?.[id] })

interface ItemMetric {
  key: string
  of(item: EvalItem): number | null | undefined
}

/** Differences by the later evaluation: a page that follows a run asks for the same ones again and again. */
const known = new WeakMap<EvalRow, Map<string, { before: EvalRow; found: PairedDifference | null }>>()

const pairedBy = (
  before: EvalRow | undefined,
  after: EvalRow | undefined,
  metric: ItemMetric,
): PairedDifference | null => {
  if (!before?.items || !after?.items) return null
  const own = known.get(after) ?? new Map()
  known.set(after, own)
  if (own.get(metric.key)?.before !== before)
    own.set(metric.key, { before, found: pairedNow(before, after, metric) })
  return own.get(metric.key).found
}

/** A problem in both evaluations, with what it has of a metric in each. */
export interface PairedItem {
  earlier: EvalItem
  later: EvalItem
  before: number
  after: number
}

/** The problems for which both evaluations have a metric. */
export const pairedItems = (before: EvalRow, after: EvalRow, of: ItemMetric['of']): PairedItem[] => {
  const items = new Map(before.items?.map(item => [item.id, item]))
  return (after.items ?? []).flatMap(later => {
    const earlier = items.get(later.id)
    const [a, b] = [earlier && of(earlier), of(later)]
    return typeof a === 'number' && typeof b === 'number'
      ? [{ earlier: earlier!, later, before: a, after: b }]
      : []
  })
}

const pairedNow = (before: EvalRow, after: EvalRow, metric: ItemMetric): PairedDifference | null => {
  const pairs = pairedItems(before, after, metric.of)
  if (pairs.length < 2) return null
  const { estimate, low, high } = bootstrapInterval(
    pairs.map(own => own.after - own.before),
    { resamples: 2000, seed: 'paired' },
  )
  return {
    n: pairs.length,
    before: mean(pairs.map(own => own.before)),
    after: mean(pairs.map(own => own.after)),
    difference: estimate,
    interval: [low, high],
  }
}

/** What a score was and is, and over which problems. */
export interface ScoreChange {
  /** Null where no earlier evaluation has the score. */
  before: number | null
  after: number
  /** `200 problems`; both numbers where the two evaluations cannot be paired and differ. */
  problems: string
  paired: PairedDifference | null
}

/**
 * A score before and after over the problems that both evaluations have; each over its own problems where they cannot be
 * paired. Null when the later evaluation lacks the score.
 */
export const scoreChange = (
  before: EvalRow | undefined,
  after: EvalRow | undefined,
  score: string,
): ScoreChange | null => {
  const value = scoreValue(after, score)
  if (after === undefined || value === null) return null
  const paired = pairedDifference(before, after, score)
  return {
    before: paired?.before ?? scoreValue(before, score),
    after: paired?.after ?? value,
    problems: describePairs(before, after, paired?.n),
    paired,
  }
}

/** Over how many problems two evaluations are compared, in words. @param pairs absent where they cannot be paired */
export const describePairs = (before: EvalRow | undefined, after: EvalRow, pairs?: number): string => {
  if (pairs !== undefined) return `${pairs} problems`
  return before === undefined || before.n === after.n
    ? `${after.n} problems`
    : `${before.n} and ${after.n} problems`
}
