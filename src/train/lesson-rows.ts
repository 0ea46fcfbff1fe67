/** @file What a step's rollouts leave in the run whatever the recipe: figures for its metrics row, and the rows that are kept. */

import { type Credited, meanAdvantage, type Rollout, writtenTokens } from '../rl/rollout.ts'
import type { MetricsRow, RolloutRow } from '../runs/rows.ts'
import { mean } from '../util/statistics.ts'
import type { LearntRollout } from './recipe.ts'

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

/** What a row says of a rollout whatever the recipe: whose it is, what it earned, how it ended. */
type RolloutFields = Pick<
  RolloutRow,
  'step' | 'role' | 'sample' | 'reward' | 'advantage' | 'finishReason' | 'tokens'
>

export const rolloutFields = (
  step: number,
  item: Pick<Credited<unknown, unknown>, 'rollout' | 'reward' | 'advantages'>,
): RolloutFields => {
  const { rollout, reward } = item
  const { role, sample, tokens, end } = rollout
  return {
    step,
    ...(role !== 'policy' && { role }),
    sample,
    reward,
    ...(tokens.length > 0 && { advantage: meanAdvantage(item) }),
    finishReason: end,
    tokens: tokens.length,
  }
}

/**
 * The best, the worst, and one more, which changes from step to step; each once.
 * @param items those whose reward is null, because nothing is known of them, are neither best nor worst
 */
export const keptRollouts = <Item extends { reward: number | null }>(
  step: number,
  items: readonly Item[],
): Item[] => {
  if (items.length === 0) return []
  const byReward = items.filter(({ reward }) => reward !== null).sort((a, b) => b.reward! - a.reward!)
  return [...new Set([...byReward.slice(0, 1), ...byReward.slice(-1), items[step % items.length]])]
}

/** The rows that are kept of a lesson: so many of each role. */
export const keptRows = (step: number, rollouts: readonly LearntRollout[]): RolloutRow[] => {
  const roles = [...new Set(rollouts.map(({ rollout }) => rollout.role))]
  return roles
    .flatMap(role =>
      keptRollouts(
        step,
        rollouts.filter(({ rollout }) => rollout.role === role),
      ),
    )
    .map(({ row }) => row())
}
