/** @file Where a batch's rewards come from: each criterion's part of the points earned, and of the points to be had. */

import type { Rubric, Verdict } from './criterion.ts'
import { judge } from './score.ts'

/** Shares by criterion id; each set of shares adds up to at most 1. */
export interface PointShares {
  earned: Record<string, number>
  toBeHad: Record<string, number>
}

/** A response's verdicts with the rubric that they are about. */
export interface JudgedResponse {
  rubric: Rubric
  verdicts: readonly Verdict[]
  /** What a criterion counts as where rubrics differ, by its id; itself where not given. */
  kinds?: Readonly<Record<string, string>>
}

/** A criterion that fewer responses than this share were judged by is not worth a curve of its own. */
const RECURRING = 0.1

/**
 * Shares of the positive points over all responses; penalties and criteria without a verdict are left out, and criteria of
 * few responses are in the totals only. Null where nothing was to be had or nothing was earned.
 * @param weights worth by criterion id in place of its points; a criterion without one counts nothing
 */
export const pointShares = (
  judged: readonly JudgedResponse[],
  weights?: Readonly<Record<string, number>>,
): PointShares | null => {
  const sums = new Map<string, { earned: number; points: number; responses: Set<number> }>()
  for (const [response, { rubric, verdicts, kinds }] of judged.entries())
    for (const { criterion, points, credit } of judge(rubric, verdicts)) {
      const worth = weights ? (weights[criterion.id] ?? 0) : points
      if (credit === null || !(worth > 0)) continue
      const name = kinds?.[criterion.id] ?? criterion.id
      const sum = sums.get(name) ?? { earned: 0, points: 0, responses: new Set() }
      sum.earned += credit * worth
      sum.points += worth
      sum.responses.add(response)
      sums.set(name, sum)
    }
  const all = [...sums.values()]
  const earned = all.reduce((total, sum) => total + sum.earned, 0)
  const points = all.reduce((total, sum) => total + sum.points, 0)
  if (!(earned > 0)) return null
  const recurring = [...sums].filter(([, { responses }]) => responses.size >= RECURRING * judged.length)
  return {
    earned: Object.fromEntries(recurring.map(([id, sum]) => [id, sum.earned / earned])),
    toBeHad: Object.fromEntries(recurring.map(([id, sum]) => [id, sum.points / points])),
  }
}
