/** @file From criterion scores to rewards and advantages: the paper's conditions, as pure functions. */

import type { LogicGrade } from '../../grade/logic/grade.ts'
import { LOGIC_CRITERIA, LOGIC_RUBRIC, type LogicCriterion } from '../../grade/logic/rubric.ts'
import {
  type Advantages,
  amongKnown,
  type CriterionWeights,
  type GrpoOptions,
  grpoAdvantages,
  type RubricNormOptions,
  rubricNormAdvantages,
} from '../../rl/advantages.ts'
import { advantagesOf, type Groups, type Reward } from '../../rl/rollout.ts'
import type { Rubric, Verdict } from '../../rubric/criterion.ts'
import { weightedScore } from '../../rubric/linear.ts'
import type { Condition } from './config.ts'
import type { LogicRolloutGrade } from './rollout.ts'

export type Weights = Readonly<Partial<Record<LogicCriterion, number>>>

/** Weights of the rubric (paper, Table 1). */
export const RUBRIC_WEIGHTS = Object.fromEntries(
  LOGIC_RUBRIC.criteria.map(({ id, points }) => [id, points]),
) as Readonly<Record<LogicCriterion, number>>

/** The composite is scaled to [0, 3] (paper, section 2.2). GRPO does not see the scale; metrics and plots do. */
const REWARD_SCALE = 3

const renormalised = (ids: readonly LogicCriterion[]): Weights => {
  const total = ids.reduce((sum, id) => sum + RUBRIC_WEIGHTS[id], 0)
  return Object.fromEntries(ids.map(id => [id, RUBRIC_WEIGHTS[id] / total]))
}

/** Criterion weights of a condition (spec 6.4); none where the reward is not a weighted sum. */
export const conditionWeights = (condition: Condition): Weights => {
  switch (condition) {
    case 'outcome':
      return renormalised(['C1', 'C3'])
    case 'z3':
    case 'flat_equal':
      return { C1: 1 / 3, C2: 1 / 3, C3: 1 / 3 }
    case 'rubric':
    case 'flat_same':
    case 'rubric_norm':
      return renormalised(['C1', 'C2', 'C3'])
    case 'hybrid':
      return RUBRIC_WEIGHTS
    case 'baseline':
    case 'proof':
      return {}
  }
}

/** The criteria that weights count, each worth its weight. */
export const weighedCriteria = (weights: Weights): { id: LogicCriterion; points: number }[] =>
  LOGIC_CRITERIA.flatMap(id => ((weights[id] ?? 0) > 0 ? [{ id, points: weights[id]! }] : []))

/** Weights without some of `weighedCriteria`, by place; the others make up for them, so that their sum stays. */
export const weightsWithout = (weights: Weights, places: ReadonlySet<number>): Weights => {
  if (places.size === 0) return weights
  const all = weighedCriteria(weights)
  const kept = all.filter((_, i) => !places.has(i))
  const sum = (own: typeof all) => own.reduce((total, { points }) => total + points, 0)
  const factor = sum(all) / sum(kept)
  return Object.fromEntries(kept.map(({ id, points }) => [id, points * factor]))
}

/** The part of the rubric that a condition weighs. */
const weighedRubric = (weights: Weights): Rubric => ({
  criteria: LOGIC_RUBRIC.criteria.filter(({ id }) => weights[id as LogicCriterion] !== undefined),
})

/** The weighted sum of a condition's part of the rubric: R = 3 sum_k w_k s_k, by the rule `weighted`. */
const composite = (verdicts: readonly Verdict[], weights: Weights): number => {
  const counting = verdicts.filter(({ criterionId }) => weights[criterionId as LogicCriterion] !== undefined)
  return weightedScore(weighedRubric(weights), counting, { scale: REWARD_SCALE, weights }).score ?? 0
}

/** All or nothing; nothing is known where the conclusion has no formula. */
const proofReward = (proved: boolean | null): number | null =>
  proved === null ? null : Number(proved) * REWARD_SCALE

/**
 * The reward of a grade: the composite, or 3 or 0 under `proof`; null where nothing can be said of the response, because the
 * problem is faulty, the solver failed, or the response is too long to be read.
 */
export const rewardOf = (
  {
    rewarded: { criteria, correctAndProved, excluded },
    verdicts,
  }: Pick<LogicRolloutGrade, 'verdicts'> & {
    rewarded: Pick<LogicGrade, 'criteria' | 'correctAndProved' | 'excluded'>
  },
  condition: Condition,
  weights: Weights,
): Reward => {
  const paid = () => (condition === 'proof' ? proofReward(correctAndProved) : composite(verdicts, weights))
  return { reward: excluded === null ? paid() : null, parts: criteria }
}

/**
 * One advantage a rollout: GRPO on the composite (paper, Eq. 1), or criteria normalised one by one (`rubric_norm`, where
 * `scale` has no meaning). What has no reward has advantage 0 and no part in its group's statistics.
 * @param weights of all groups, or of each by its place
 */
export const rolloutAdvantages = (
  groups: Groups<Reward>,
  condition: Condition,
  weights: Weights | ((group: number) => Weights),
  options: GrpoOptions & RubricNormOptions,
): Advantages => {
  if (condition !== 'rubric_norm') return advantagesOf(groups, known => grpoAdvantages(known, options))
  const parts_P_G = groups.map(group => group.map(({ reward, parts }) => (reward === null ? null : parts)))
  return amongKnown(parts_P_G, known => rubricNormAdvantages(known, weights as CriterionWeights, options))
}
