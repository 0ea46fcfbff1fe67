/** @file Which rollouts of a step a run keeps to be read. */

import type { RolloutRow } from '../runs/rows.ts'
import type { LearntRollout } from './recipe.ts'

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
