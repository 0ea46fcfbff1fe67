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
