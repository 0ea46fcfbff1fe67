/** @file Where a batch's rewards come from: each criterion's part of the points earned, and of the points to be had. */

import type { Rubric, Verdict } from './criterion.ts'
import { judge } from './score.ts'

/** Shares by criterion id; each set of shares adds up to at most 1. */
export interface PointShares {
  earned: Record<string, number>
  toBeHad: Record<string, number>
}

/** A criterion that fewer responses than this share were judged by is not worth a curve of its own. */
const RECURRING = 0.1

/**
 * Shares of the positive points over all responses; penalties and criteria without a verdict are left out, and criteria of
 * few responses are in the totals only. Null where nothing was to be had or nothing was earned.
 * @param weights worth by criterion id in place of its points; a criterion without one counts nothing
 */
export const pointShares = (
  judged: readonly { rubric: Rubric; verdicts: readonly Verdict[] }[],
  weights?: Readonly<Record<string, number>>,
): PointShares | null => {
  const sums = new Map<string, { earned: number; points: number; responses: number }>()
  for (const { rubric, verdicts } of judged)
    for (const { criterion, points, credit } of judge(rubric, verdicts)) {
      const worth = weights ? (weights[criterion.id] ?? 0) : points
      if (credit === null || !(worth > 0)) continue
      const sum = sums.get(criterion.id) ?? { earned: 0, points: 0, responses: 0 }
      sum.earned += credit * worth
      sum.points += worth
      sum.responses++
      sums.set(criterion.id, sum)
    }
  const all = [...sums.values()]
  const earned = all.reduce((total, sum) => total + sum.earned, 0)
  const points = all.reduce((total, sum) => total + sum.points, 0)
  if (!(earned > 0)) return null
  const recurring = [...sums].filter(([, { responses }]) => responses >= RECURRING * judged.length)
  return {
    earned: Object.fromEntries(recurring.map(([id, sum]) => [id, sum.earned / earned])),
    toBeHad: Object.fromEntries(recurring.map(([id, sum]) => [id, sum.points / points])),
  }
}

/**
 * Shares of verdicts that graders failed to give, by the sign of the points (spec 1.5); null for a sign without criteria.
 */
export const nullShares = (
  judged: readonly { rubric: Rubric; verdicts: readonly Verdict[] }[],
): { positive: number | null; negative: number | null } => {
  const counts = { positive: [0, 0], negative: [0, 0] }
  for (const { rubric, verdicts } of judged)
    for (const { criterion, credit } of judge(rubric, verdicts)) {
      const count = counts[criterion.points > 0 ? 'positive' : 'negative']
      count[0] += Number(credit === null)
      count[1]++
    }
  const share = ([nulls, all]: number[]) => (all > 0 ? nulls / all : null)
  return { positive: share(counts.positive), negative: share(counts.negative) }
}
