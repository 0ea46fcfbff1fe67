/** @file What the row of a rollout says whatever the recipe: whose it is, what it earned, how it ended. */

import { type Credited, meanAdvantage } from '../rl/rollout.ts'
import type { RolloutRow } from '../runs/rows.ts'

export type RolloutFields = Pick<
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
