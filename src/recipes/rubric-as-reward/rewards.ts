/** @file From criterion scores to rewards and advantages: the paper's conditions, as pure functions. */

import { LOGIC_RUBRIC, type LogicCriterion, logicVerdicts } from '../../grade/logic/rubric.ts'
import {
  type GrpoOptions,
  grpoAdvantages,
  type RubricNormOptions,
  rubricNormAdvantages,
} from '../../rl/advantages.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { weightedScore } from '../../rubric/linear.ts'
import type { Condition } from './config.ts'

export type CriterionScores = Readonly<Record<LogicCriterion, number>>
export type Weights = Readonly<Partial<Record<LogicCriterion, number>>>

/** Weights of the rubric (paper, Table 1). */
export const RUBRIC_WEIGHTS = Object.fromEntries(
  LOGIC_RUBRIC.criteria.map(({ id, points }) => [id, points]),
) as Readonly<Record<LogicCriterion, number>>

/** The composite is scaled to [0, 3] (paper, section 2.2). GRPO does not see the scale; metrics and plots do. */
export const REWARD_SCALE = 3

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

/** What a rollout brings to its reward. */
export interface Scored {
  scores: CriterionScores
  correctAndProved: boolean
  /** Nothing can be said of it: a faulty problem, or a solver that failed. */
  excluded?: boolean
}

/** The part of the rubric that a condition weighs. */
const weighedRubric = (weights: Weights): Rubric => ({
  criteria: LOGIC_RUBRIC.criteria.filter(({ id }) => weights[id as LogicCriterion] !== undefined),
})

/** R = 3 sum_k w_k s_k: the rule `weighted` on the condition's part of the rubric; 3 or 0 under `proof`. */
export const reward = (
  { scores, correctAndProved }: Scored,
  condition: Condition,
  weights: Weights,
): number => {
  if (condition === 'proof') return correctAndProved ? REWARD_SCALE : 0
  const rubric = weighedRubric(weights)
  const verdicts = logicVerdicts({ criteria: scores }).filter(
    ({ criterionId }) => weights[criterionId as LogicCriterion] !== undefined,
  )
  return weightedScore(rubric, verdicts, { scale: REWARD_SCALE, weights }).score ?? 0
}

export interface RolloutAdvantages {
  advantages_P_G: readonly (readonly number[])[]
  /** Null where excluded. */
  rewards_P_G: readonly (readonly (number | null)[])[]
  /** Share of groups whose advantages are all zero. */
  zeroVariance: number
}

/**
 * One advantage a rollout: GRPO on the composite (paper, Eq. 1), or criteria normalised one by one (`rubric_norm`, where
 * `scale` has no meaning). Excluded rollouts have advantage 0 and no part in their group's statistics.
 */
export const rolloutAdvantages = (
  scored_P_G: readonly (readonly Scored[])[],
  condition: Condition,
  weights: Weights,
  options: GrpoOptions & RubricNormOptions,
): RolloutAdvantages => {
  const rewards_P_G = scored_P_G.map(group =>
    group.map(item => (item.excluded ? null : reward(item, condition, weights))),
  )
  const judged_P_G = scored_P_G.map(group => group.filter(({ excluded }) => !excluded))
  const { advantages_P_G: judgedAdvantages_P_G, zeroVarianceGroups } =
    condition === 'rubric_norm'
      ? rubricNormAdvantages(
          judged_P_G.map(group => group.map(({ scores }) => ({ ...scores }))),
          weights as Record<string, number>,
          options,
        )
      : grpoAdvantages(
          judged_P_G.map(group => group.map(item => reward(item, condition, weights))),
          options,
        )
  const advantages_P_G = scored_P_G.map((group, p) => {
    const own = judgedAdvantages_P_G[p].values()
    return group.map(({ excluded }) => (excluded ? 0 : own.next().value!))
  })
  return { advantages_P_G, rewards_P_G, zeroVariance: zeroVarianceGroups / Math.max(1, scored_P_G.length) }
}
