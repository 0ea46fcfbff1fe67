/** @file Sums of whole methods around the scoring rules: RubricEM's stages, RaR's categories, DR Tulu's reward. */

import type { Rubric, Verdict } from './criterion.ts'
import { allWeightsScore } from './linear.ts'
import type { ScoreOptions } from './score.ts'

/**
 * Stage scores of a staged trajectory (RubricEM): the criteria of each stage by the rule `levels`; null for a
 * stage without criteria or verdicts.
 */
export const stageScores = (
  rubric: Rubric,
  verdicts: readonly Verdict[],
  options: ScoreOptions = {},
): Record<1 | 2 | 3 | 4, number | null> => {
  const scoreOf = (stage: 1 | 2 | 3 | 4) => {
    const criteria = rubric.criteria.filter(criterion => criterion.stage === stage)
    const ids = new Set(criteria.map(({ id }) => id))
    const own = verdicts.filter(({ criterionId }) => ids.has(criterionId))
    return allWeightsScore({ criteria }, own, options).score
  }
  return { 1: scoreOf(1), 2: scoreOf(2), 3: scoreOf(3), 4: scoreOf(4) }
}

/** RaR's weights of its four categories. A pitfall's counts for its avoidance. */
export const RAR_WEIGHTS = { essential: 1, important: 0.7, optional: 0.3, pitfall: 0.9 } as const

/**
 * Weights by criterion for the rule `all-weights`: RaR's, by category. A criterion of no such category keeps its points.
 */
export const rarWeights = ({ criteria }: Rubric): Record<string, number> =>
  Object.fromEntries(
    criteria.flatMap(({ id, category = '' }) => {
      const weight = new Map<string, number>(Object.entries(RAR_WEIGHTS)).get(category.toLowerCase())
      return weight === undefined ? [] : [[id, weight]]
    }),
  )

/** Parts of DR Tulu's reward, each in [0, 1] (the rubric's may be below 0). */
export interface DrTuluParts {
  rubric: number
  /** Absent where citations are not scored. */
  citation?: number
  format: number
  searchTurns: number
}

/**
 * DR Tulu's whole reward: .5 rubric + .2 citation + .2 format + .1 search turns; .6, .2, .2 without citations.
 * @example
 * drTuluReward({ rubric: 0.5, citation: 1, format: 1, searchTurns: 0 }) // 0.65
 */
export const drTuluReward = ({ rubric, citation, format, searchTurns }: DrTuluParts): number =>
  citation === undefined
    ? 0.6 * rubric + 0.2 * format + 0.2 * searchTurns
    : 0.5 * rubric + 0.2 * citation + 0.2 * format + 0.1 * searchTurns
