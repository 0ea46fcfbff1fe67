/** @file From verdicts to credits: what every scoring rule starts from and gives back; parts are always kept. */

import { DataError, NumericError } from '../util/errors.ts'
import type { Criterion, Rubric, ScoredVerdict } from './criterion.ts'

/** `drop`: a criterion without a verdict leaves numerator and denominator; `as-false`: it counts as not met. */
export type NullHandling = 'drop' | 'as-false'

export const NULL_HANDLINGS = ['drop', 'as-false'] as const satisfies readonly NullHandling[]

export interface ScoreOptions {
  /** Default `drop`. */
  nulls?: NullHandling
  /** What a score without anything to divide by is: null (evaluation: skip and count) or a number, 0 in training. Default null. */
  whenUndefined?: number | null
  /** Worth by criterion id in place of the size of its points, at least 0; the sign stays that of its points. */
  weights?: Readonly<Record<string, number>>
}

export interface RubricScore {
  /** Null where it is undefined. */
  score: number | null
  /** Credit in [0, 1] of each judged criterion, before points; a penalty's credit is 1 when the flaw is present. */
  parts: Record<string, number>
  /** Criteria without a usable verdict, by the sign of their points: a judge's failures must be visible. */
  nulls: { positive: number; negative: number }
  /** Criteria in all, by the sign of their points. */
  counts: { positive: number; negative: number }
  /** Ids of the critical criteria that failed, where the rule has a veto. */
  vetoedBy?: string[]
}

/**
 * Credit of a verdict in [0, 1]: its credit, or half its level, or whether it is met; null where the grader gave none.
 * @throws NumericError for a credit outside [0, 1].
 */
export const creditOf = ({ criterionId, met, credit, level }: ScoredVerdict): number | null => {
  if (credit === undefined && level !== undefined) return level / 2
  if (credit === undefined) return met === null ? null : Number(met)
  if (!(credit >= 0 && credit <= 1))
    throw new NumericError(
      `verdict ${criterionId}: expected a credit in [0, 1], got ${credit}; check the grader`,
    )
  return credit
}

/** A criterion with its worth and what it got. */
export interface Judged {
  criterion: Criterion
  points: number
  credit: number | null
}

/**
 * Pairs each criterion with its credit; a criterion without a verdict has none.
 * @throws DataError for a verdict about no criterion of the rubric, or two about one.
 */
export const judge = (
  rubric: Rubric,
  verdicts: readonly ScoredVerdict[],
  weights: Readonly<Record<string, number>> = {},
): Judged[] => {
  const known = new Set(rubric.criteria.map(({ id }) => id))
  const byId = new Map<string, ScoredVerdict>()
  for (const verdict of verdicts) {
    const id = verdict.criterionId
    if (!known.has(id))
      throw new DataError(
        `verdict ${id}: expected one of ${[...known].join(', ')}; match verdicts to this rubric`,
      )
    if (byId.has(id))
      throw new DataError(`verdict ${id}: expected one verdict a criterion, got two; merge them first`)
    byId.set(id, verdict)
  }
  return rubric.criteria.map(criterion => {
    const verdict = byId.get(criterion.id)
    return { criterion, points: worthOf(criterion, weights), credit: verdict ? creditOf(verdict) : null }
  })
}

const worthOf = ({ id, points }: Criterion, weights: Readonly<Record<string, number>>): number => {
  if (!Object.hasOwn(weights, id)) return points
  if (!(weights[id] >= 0))
    throw new DataError(
      `weights.${id}: expected a number of at least 0, got ${weights[id]}; the sign of a criterion is that of its points`,
    )
  return Math.sign(points) * weights[id]
}

/** A criterion that enters the sums. */
export interface Counted {
  criterion: Criterion
  points: number
  credit: number
  /** What is good about it, in [0, 1]: its credit; of a penalty, that the flaw is absent (RaR, arXiv 2507.17746). */
  good: number
}

/** What enters the sums: judged criteria, and those without a verdict as not met under `as-false`. */
export const counted = (judged: readonly Judged[], nulls: NullHandling = 'drop'): Counted[] =>
  judged.flatMap(({ criterion, points, credit: given }) => {
    if (given === null && nulls === 'drop') return []
    const credit = given ?? 0
    return [{ criterion, points, credit, good: criterion.points > 0 ? credit : 1 - credit }]
  })

const countBySign = (judged: readonly Judged[]) => ({
  positive: judged.filter(({ criterion }) => criterion.points > 0).length,
  negative: judged.filter(({ criterion }) => criterion.points < 0).length,
})

/**
 * A score with its parts and counts.
 * @throws NumericError for a score that is not finite.
 */
export const asScore = (
  score: number | null,
  judged: readonly Judged[],
  options: ScoreOptions,
): RubricScore => {
  if (score !== null && !Number.isFinite(score))
    throw new NumericError(`score: expected a finite number, got ${score}; check the points of the rubric`)
  return {
    score: score ?? options.whenUndefined ?? null,
    parts: Object.fromEntries(
      judged.flatMap(({ criterion, credit }) => (credit === null ? [] : [[criterion.id, credit]])),
    ),
    nulls: countBySign(judged.filter(({ credit }) => credit === null)),
    counts: countBySign(judged),
  }
}
