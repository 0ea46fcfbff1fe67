/** @file Rewards of stages by the rubrics of a question that a step does not leave out. */

import { type JudgedGroup, STAGES, type StageRubric, stageRewards } from '../../grade/evolving/index.ts'
import type { StageRewards } from '../../rl/stage-credit.ts'
import { type CriteriaOptions, placesLeftOut } from '../options/options.ts'

const criterionOf = ({ id, sign, weight }: StageRubric) => ({
  id,
  points: sign === 'positive' ? weight : -weight,
})

/** Ids of the rubrics that a question's rewards leave out in a step, drawn stage by stage; undefined where no option leaves any out. */
export const leftOutRubrics = (
  config: CriteriaOptions,
  { key, rubrics }: Pick<JudgedGroup, 'key' | 'rubrics'>,
  step: number,
): ReadonlySet<string> | undefined => {
  const left = STAGES.map(stage => {
    const own = rubrics.filter(rubric => rubric.stage === stage)
    const places = placesLeftOut(config, `/stage ${stage}`)(own.map(criterionOf), step, key)
    return places && [...places].map(i => own[i].id)
  })
  return left.includes(undefined) ? undefined : new Set(left.flatMap(ids => ids ?? []))
}

/** Rewards of stages by the rubrics that are left; of a rollout that could not be scored nothing more is known than before. */
export const rewardsWithout = (
  { rubrics, rollouts }: Pick<JudgedGroup, 'rubrics' | 'rollouts'>,
  leftOut?: ReadonlySet<string>,
): StageRewards[] => {
  if (!leftOut?.size) return rollouts.map(({ rewards_K }) => rewards_K)
  const kept = rubrics.filter(({ id }) => !leftOut.has(id))
  return rollouts.map(({ rollout, scores, rewards_K }) => {
    const counted = stageRewards(kept, rollout, scores)
    return rewards_K.map((known, k) => (known === null ? null : counted[k]))
  })
}

/** Rubrics as criteria, with the places of those that are left out. */
export const stageRubricsWithout = (
  { rubrics }: Pick<JudgedGroup, 'rubrics'>,
  leftOut?: ReadonlySet<string>,
) => ({
  criteria: rubrics.map(criterionOf),
  ...(leftOut && { places: new Set(rubrics.flatMap(({ id }, i) => (leftOut.has(id) ? [i] : []))) }),
})
