/** @file Rubric dropout for stages: rewards of a question's rollouts by the rubrics that a step does not leave out. */

import { type JudgedGroup, STAGES, type StageRubric, stageRewards } from '../../grade/evolving/index.ts'
import type { StageRewards } from '../../rl/stage-credit.ts'
import { placesLeftOut } from '../common/rubric-dropout.ts'
import type { RubricemConfig } from './config.ts'

type Dropout = Pick<RubricemConfig, 'rubricDropout' | 'seed'>

const criterionOf = ({ id, sign, weight }: StageRubric) => ({
  id,
  points: sign === 'positive' ? weight : -weight,
})

/** Ids of the rubrics that a question's rewards leave out in a step, drawn stage by stage: no stage loses all of its merits. */
export const leftOutRubrics = (
  config: Dropout,
  { key, rubrics }: Pick<JudgedGroup, 'key' | 'rubrics'>,
  step: number,
): ReadonlySet<string> =>
  new Set(
    STAGES.flatMap(stage => {
      const own = rubrics.filter(rubric => rubric.stage === stage)
      return [...placesLeftOut(config, `/stage ${stage}`)(own.map(criterionOf), step, key)].map(
        i => own[i].id,
      )
    }),
  )

/** Rewards of stages by the rubrics that are left; of a rollout that could not be scored nothing more is known than before. */
export const rewardsWithout = (
  { rubrics, rollouts }: Pick<JudgedGroup, 'rubrics' | 'rollouts'>,
  leftOut: ReadonlySet<string>,
): StageRewards[] => {
  if (leftOut.size === 0) return rollouts.map(({ rewards_K }) => rewards_K)
  const kept = rubrics.filter(({ id }) => !leftOut.has(id))
  return rollouts.map(({ rollout, scores, rewards_K }) => {
    const counted = stageRewards(kept, rollout, scores)
    return rewards_K.map((known, k) => (known === null ? null : counted[k]))
  })
}

/** For `dropoutMetrics`. */
export const stageRubricsWithout = (
  { rubrics }: Pick<JudgedGroup, 'rubrics'>,
  leftOut: ReadonlySet<string>,
) => ({
  criteria: rubrics.map(criterionOf),
  places: new Set(rubrics.flatMap(({ id }, i) => (leftOut.has(id) ? [i] : []))),
})
