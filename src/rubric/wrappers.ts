/** @file Rules around a rule: a veto for criteria that must not fail, and diminishing returns (Rubicon). */

import { DataError } from '../util/errors.ts'
import type { Criterion } from './criterion.ts'
import type { RuleOptions, ScoringRule, Weighting } from './linear.ts'
import { counted, judge } from './score.ts'

export interface WrapperOptions extends RuleOptions {
  /** A critical criterion fails when what is good about it is below this. Default 0.5. */
  vetoBelow?: number
  /** How fast returns diminish: `c` in 1 - exp(-c x). Default 3, where full marks are worth .95. */
  saturation?: number
}

/**
 * Veto: the score of `rule`, but never above zero once a critical criterion has failed, met too little or, as a penalty,
 * incurred. A critical criterion without a verdict fails under `as-false` (a penalty does not) and is passed over under
 * `drop`. A score below zero stays as it is: a veto is no reward.
 * @example
 * const rubric = { criteria: [{ id: 'safe', text: 'Is safe.', points: 1, critical: true }, { id: 'kind', text: 'Is kind.', points: 1 }] }
 * veto(signedScore)(rubric, [{ criterionId: 'safe', met: false }, { criterionId: 'kind', met: true }]).score // 0
 */
export const veto =
  (rule: ScoringRule): ScoringRule =>
  (rubric, verdicts, options: WrapperOptions = {}) => {
    const { vetoBelow = 0.5, said = verdicts } = options
    const result = rule(rubric, verdicts, options)
    const ids = new Set(rubric.criteria.map(({ id }) => id))
    const own = said.filter(({ criterionId }) => ids.has(criterionId))
    const vetoedBy = counted(judge(rubric, own), options.nulls)
      .filter(({ criterion, good }) => criterion.critical && good < vetoBelow)
      .map(({ criterion }) => criterion.id)
    const score = vetoedBy.length > 0 ? Math.min(result.score ?? 0, 0) : result.score
    return { ...result, score, vetoedBy }
  }

/** 1 - exp(-c x), with its mirror image below zero, where the formula itself would run away. */
const saturate = (x: number, c: number): number => Math.sign(x) * -Math.expm1(-c * Math.abs(x))

const byCategory = (criteria: readonly Criterion[]): Criterion[][] => {
  const groups = new Map<string, Criterion[]>()
  for (const criterion of criteria) {
    const name = criterion.category ?? ''
    groups.set(name, [...(groups.get(name) ?? []), criterion])
  }
  return [...groups.values()]
}

/**
 * Saturation: returns diminish within each dimension, so that one dimension cannot make up for the others. A dimension is
 * a category of criteria; its score x becomes 1 - exp(-c x), and dimensions are averaged by what they are worth. Where
 * `weighting` is absent (rules that are no mean over any part of a rubric) the whole score is one dimension.
 * @throws DataError for `saturation` that is not above zero.
 */
export const saturation =
  (rule: ScoringRule, weighting?: Weighting): ScoringRule =>
  (rubric, verdicts, options: WrapperOptions = {}) => {
    const { saturation: c = 3 } = options
    if (!(c > 0 && Number.isFinite(c)))
      throw new DataError(`saturation: expected a number above 0, got ${c}; 3 makes full marks .95`)
    const whole = rule(rubric, verdicts, options)
    if (whole.score === null) return whole
    if (!weighting) return { ...whole, score: saturate(whole.score, c) }
    let earned = 0
    let attainable = 0
    for (const criteria of byCategory(rubric.criteria)) {
      const ids = new Set(criteria.map(({ id }) => id))
      const own = verdicts.filter(({ criterionId }) => ids.has(criterionId))
      const { score } = rule({ criteria }, own, { ...options, whenUndefined: null })
      if (score === null) continue
      const entries = counted(judge({ criteria }, own, options.weights), options.nulls)
      const weight = entries.reduce((sum, entry) => sum + weighting.attainable(entry), 0)
      earned += weight * saturate(score, c)
      attainable += weight
    }
    const score = attainable > 0 ? earned / attainable : saturate(whole.score, c)
    // A veto inside is one of the whole, whatever dimension failed.
    return { ...whole, score: whole.vetoedBy?.length ? Math.min(score, 0) : score }
  }
