/** @file What a step's rollouts were like, whatever the recipe: how many, how long, how they ended. */

import { type Groups, type Reward, type Rollout, rewardsOf, writtenTokens } from '../rl/rollout.ts'
import type { MetricsRow } from '../runs/rows.ts'
import { mean, std } from '../util/statistics.ts'
import type { LearntRollout } from './recipe.ts'

/** Mean and spread of what was paid; null where nothing was. */
export const rewardFigures = (groups: Groups<Reward>): Pick<MetricsRow, 'reward' | 'rewardStd'> => {
  const paid = rewardsOf(groups).flatMap(own => own.filter(reward => reward !== null))
  return { reward: paid.length > 0 ? mean(paid) : null, rewardStd: paid.length > 0 ? std(paid) : null }
}

/** Mean of each part of the rewards, by name, over the rollouts that have it. */
export const partMeans = (groups: Groups<Reward>): Record<string, number> => {
  const parts = groups.flat().map(reward => reward.parts)
  const names = [...new Set(parts.flatMap(own => Object.keys(own)))]
  return Object.fromEntries(
    names.flatMap(name => {
      const values = parts.flatMap(own => own[name] ?? [])
      return values.length > 0 ? [[name, mean(values)]] : []
    }),
  )
}

/**
 * Means are over the rollouts that were learnt from; what was sampled in vain counts as work, not as what the step learnt from.
 * @param drawn everything that was sampled
 */
export const lessonFigures = (
  learnt: readonly LearntRollout[],
  drawn: readonly Rollout[],
): Omit<MetricsRow, 'step'> => {
  const rollouts = learnt.map(({ rollout }) => rollout)
  const average = (values: readonly number[]) => (values.length > 0 ? mean(values) : null)
  const turns = rollouts.map(rollout => rollout.turns.length)
  const roles = [...new Set(rollouts.map(({ role }) => role))]
  const share = (end: Rollout['end']) => average(rollouts.map(rollout => Number(rollout.end === end)))
  const lengthOf = (role: string) => average(rollouts.filter(own => own.role === role).map(writtenTokens))
  return {
    responseTokens: average(rollouts.map(writtenTokens)),
    truncationRate: share('length'),
    tokens: drawn.reduce((sum, rollout) => sum + writtenTokens(rollout), 0),
    rollouts: drawn.length,
    ...(turns.some(count => count > 1) && { turns: average(turns), failedRollouts: share('failed') }),
    ...(roles.length > 1 && { roleTokens: Object.fromEntries(roles.map(role => [role, lengthOf(role)])) }),
  }
}
