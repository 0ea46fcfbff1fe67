/** @file Parts of rewards normalised apart in their groups before they are added up, in place of whole rewards (GDPO, arXiv 2601.05242). */

import { z } from 'zod'
import {
  type Advantages,
  type CriterionScores,
  type CriterionWeights,
  type GrpoOptions,
  grpoAdvantages,
  type RubricNormOptions,
} from '../../rl/advantages.ts'
import { advantagesOf, type Groups, partAdvantagesOf, type Reward } from '../../rl/rollout.ts'
import { orAbsent } from '../../train/config.ts'
import { refuse } from '../common/refuse.ts'
import type { RewardOption } from './option.ts'

const shape = {
  normalise: orAbsent(
    z.literal('criterion'),
    'Each criterion is normalised in its group before they are added up by their points; absent: the score is.',
  ),
}

/** Methods' own ways to say it are here as well: RiT's parts, RLCER's, a condition of Rubric as Reward. */
interface Normalised {
  normalise?: unknown
  condition?: unknown
  advantage?: GrpoOptions & RubricNormOptions & { perPart?: boolean }
}

/** The setting by which parts are normalised apart; `criteria`: one by one, so that no score of theirs is paid. */
const apartBy = ({ normalise, condition, advantage }: Normalised): { by: string; criteria?: true } | null => {
  if (normalise === 'criterion') return { by: 'normalise "criterion"', criteria: true }
  if (condition === 'rubric_norm') return { by: 'condition "rubric_norm"', criteria: true }
  if (normalise === 'part') return { by: 'normalise "part"' }
  return advantage?.perPart ? { by: 'advantage.perPart' } : null
}

export const normalise: RewardOption<typeof shape> = {
  shape,
  refuse(settings, { usualScale = 'group', unpaid, unjudged }) {
    const { advantage }: Normalised = settings
    const { by } = apartBy(settings) ?? {}
    const ignored = unpaid ?? unjudged
    if (settings.normalise === 'criterion' && ignored)
      refuse(`normalise: expected nothing with ${ignored}`, 'leave it out, or set that back')
    if (by && settings.critic)
      refuse(`critic: expected null with ${by}: it estimates the whole reward`, 'leave one of them out')
    if (by && advantage && advantage.scale !== usualScale)
      refuse(
        `advantage.scale: expected "${usualScale}" with ${by}, which divides each part by its own spread in the group, got "${advantage.scale}"`,
        'leave it out',
      )
  },
  plan(settings) {
    const apart = apartBy(settings)
    return apart ? [`normalised   each part in its group (${apart.by})`] : []
  },
  facts(settings) {
    const apart = apartBy(settings)
    return { unscored: apart?.criteria && apart.by }
  },
}

/**
 * Advantages within groups: of whole rewards, or part by part where that is set.
 * @param weights of the parts, of all groups or of each by its place
 * @param partsOf null where nothing is known of a rollout; absent: the parts of its reward
 * @param whole of whole rewards; absent: GRPO
 * @throws NumericError for a reward that is not finite
 */
export const normalisedAdvantages = <Item extends Reward>(
  config: Normalised & Required<Pick<Normalised, 'advantage'>>,
  groups: Groups<Item>,
  {
    weights,
    partsOf,
    whole = known => grpoAdvantages(known, config.advantage),
  }: {
    weights: CriterionWeights
    partsOf?(item: Item): CriterionScores | null
    whole?(rewards_P_G: number[][]): Advantages
  },
): Advantages =>
  apartBy(config) ? partAdvantagesOf(groups, weights, config.advantage, partsOf) : advantagesOf(groups, whole)
