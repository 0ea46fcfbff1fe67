/** @file From verdicts to a score: signed sum over positive points, weighted sum, plain mean; parts are always kept. */

import { std } from '../util/descriptive.ts'
import { DataError, NumericError } from '../util/errors.ts'
import { Rng } from '../util/rng.ts'
import type { Criterion, RewardRecord, Rubric, Verdict } from './criterion.ts'

/** `drop`: a criterion without a verdict leaves numerator and denominator; `as-false`: it counts as not met (spec 1.5). */
export type NullHandling = 'drop' | 'as-false'

export interface ScoreOptions {
  /** Default `drop`. */
  nulls?: NullHandling
  /** What a score without anything to divide by is: `null` (evaluation: skip and count) or `zero` (training). Default `null`. */
  whenUndefined?: 'null' | 'zero'
}

export interface RubricScore {
  /** Null where it is undefined. */
  score: number | null
  /** Credit in [0, 1] of each judged criterion, before points; a penalty's credit is 1 when the flaw is present. */
  parts: Record<string, number>
  /** Criteria without a usable verdict, by the sign of their points: a judge's failures must be visible (spec 1.5). */
  nulls: { positive: number; negative: number }
  /** Criteria in all, by the sign of their points. */
  counts: { positive: number; negative: number }
}

/** Credit of a verdict in [0, 1]; null where the grader gave none. */
export const creditOf = (verdict: Verdict): number | null => {
  if (verdict.credit === undefined) return verdict.met === null ? null : Number(verdict.met)
  if (!(verdict.credit >= 0 && verdict.credit <= 1))
    throw new NumericError(
      `verdict ${verdict.criterionId}: expected a credit in [0, 1], got ${verdict.credit}; check the grader`,
    )
  return verdict.credit
}

interface Judged {
  criterion: Criterion
  credit: number | null
}

/** Pairs each criterion with its credit; a criterion without a verdict has none. */
const judge = (rubric: Rubric, verdicts: readonly Verdict[]): Judged[] => {
  const known = new Set(rubric.criteria.map(({ id }) => id))
  const byId = new Map<string, Verdict>()
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
    return { criterion, credit: verdict ? creditOf(verdict) : null }
  })
}

const countBySign = (judged: readonly Judged[]) => ({
  positive: judged.filter(({ criterion }) => criterion.points > 0).length,
  negative: judged.filter(({ criterion }) => criterion.points < 0).length,
})

const asScore = (score: number | null, judged: readonly Judged[], options: ScoreOptions): RubricScore => ({
  score: score === null && options.whenUndefined === 'zero' ? 0 : score,
  parts: Object.fromEntries(
    judged.flatMap(({ criterion, credit }) => (credit === null ? [] : [[criterion.id, credit]])),
  ),
  nulls: countBySign(judged.filter(({ credit }) => credit === null)),
  counts: countBySign(judged),
})

/** What enters the sums: judged criteria, and those without a verdict as 0 under `as-false`. */
const counted = (judged: readonly Judged[], nulls: NullHandling = 'drop') =>
  judged.flatMap(({ criterion, credit }) => {
    if (credit === null && nulls === 'drop') return []
    return [{ criterion, credit: credit ?? 0 }]
  })

/**
 * Signed score: sum of credit x points over the sum of positive points (spec 1.6; RuscaRL Eq. 4, HealthBench). At most
 * 1, may be negative, not clipped. Undefined without positive points (see `whenUndefined`).
 * @throws DataError for verdicts that do not belong to the rubric; NumericError for a credit outside [0, 1].
 */
export const signedScore = (
  rubric: Rubric,
  verdicts: readonly Verdict[],
  options: ScoreOptions = {},
): RubricScore => {
  const judged = judge(rubric, verdicts)
  let earned = 0
  let attainable = 0
  for (const { criterion, credit } of counted(judged, options.nulls)) {
    earned += credit * criterion.points
    attainable += Math.max(criterion.points, 0)
  }
  return asScore(attainable > 0 ? earned / attainable : null, judged, options)
}

export interface WeightedOptions extends ScoreOptions {
  /** Multiplies the sum, for example 3 in Rubric as Reward. Default 1. */
  scale?: number
  /** Weight by criterion id; a criterion's points where absent. */
  weights?: Readonly<Record<string, number>>
}

/**
 * Weighted sum: scale x sum of weight x credit (spec 6.2). Under `drop` the weights of the criteria that were judged
 * are scaled up so that they sum to the same total. Undefined when nothing was judged.
 */
export const weightedScore = (
  rubric: Rubric,
  verdicts: readonly Verdict[],
  options: WeightedOptions = {},
): RubricScore => {
  const { scale = 1, weights = {} } = options
  const weightOf = (criterion: Criterion) => weights[criterion.id] ?? criterion.points
  const judged = judge(rubric, verdicts)
  const whole = judged.reduce((sum, { criterion }) => sum + Math.abs(weightOf(criterion)), 0)
  let earned = 0
  let present = 0
  for (const { criterion, credit } of counted(judged, options.nulls)) {
    earned += weightOf(criterion) * credit
    present += Math.abs(weightOf(criterion))
  }
  return asScore(present > 0 ? (scale * earned * whole) / present : null, judged, options)
}

/**
 * Plain mean over criteria of what is good about each: the credit of a positive criterion, 1 - credit of a penalty
 * (avoiding a flaw counts as meeting, as RaR's pitfall items do; spec 7.3). Points are ignored.
 */
export const meanScore = (
  rubric: Rubric,
  verdicts: readonly Verdict[],
  options: ScoreOptions = {},
): RubricScore => {
  const judged = judge(rubric, verdicts)
  const entries = counted(judged, options.nulls)
  const sum = entries.reduce(
    (total, { criterion, credit }) => total + (criterion.points > 0 ? credit : 1 - credit),
    0,
  )
  return asScore(entries.length > 0 ? sum / entries.length : null, judged, options)
}

/** A reward record of a score: raw parts and verdicts kept, nulls by sign among the flags. An undefined score is 0. */
export const rewardRecord = (
  { score, parts, nulls }: RubricScore,
  verdicts: readonly Verdict[],
  flags: Readonly<Record<string, number>> = {},
): RewardRecord => ({
  total: score ?? 0,
  parts: { ...parts },
  verdicts: [...verdicts],
  flags: {
    ...flags,
    undefinedScore: Number(score === null),
    nullPositive: nulls.positive,
    nullNegative: nulls.negative,
  },
})

export interface AggregateScore {
  /** Mean over the scored examples, clipped to [0, 1]; null when none was scored. */
  mean: number | null
  /** Standard deviation of the clipped mean over bootstrap resamples. */
  bootstrapStd: number
  scored: number
  skipped: number
}

/**
 * Data-set score as HealthBench reports it (spec 1.6): single scores may be negative, only the mean is clipped;
 * undefined scores are skipped and counted.
 */
export const aggregateScores = (
  scores: readonly (number | null)[],
  { resamples = 1000, seed = 0 }: { resamples?: number; seed?: number | string } = {},
): AggregateScore => {
  const scored = scores.filter(score => score !== null)
  if (scored.length === 0) return { mean: null, bootstrapStd: 0, scored: 0, skipped: scores.length }
  const clip = (sum: number) => Math.min(1, Math.max(0, sum / scored.length))
  const rng = new Rng(`${seed}/aggregate`)
  const draws = Array.from({ length: resamples }, () => {
    let sum = 0
    for (let i = 0; i < scored.length; i++) sum += scored[rng.int(scored.length)]
    return clip(sum)
  })
  const sum = scored.reduce((total, score) => total + score, 0)
  return {
    mean: clip(sum),
    bootstrapStd: std(draws),
    scored: scored.length,
    skipped: scores.length - scored.length,
  }
}
