/** @file What the row of a rollout says whatever the recipe: whose it is, what it earned, how it ended, who said what. */

import type { TokenIds } from '../rl/datum.ts'
import { type Credited, meanAdvantage, type Rollout } from '../rl/rollout.ts'
import type { RolloutRow, RolloutTurn } from '../runs/rows.ts'

export type RolloutFields = Pick<
  RolloutRow,
  'step' | 'role' | 'sample' | 'reward' | 'advantage' | 'finishReason' | 'tokens'
>

/** Whose rollout it is, what it earned, what it was taught on average, how it ended. */
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
 * A row in words, for recipes that have no more to say of a rollout: its prompt stands for the problem, and a rollout of
 * several turns says who spoke.
 */
export const rolloutRow = (
  step: number,
  item: Credited<unknown, unknown>,
  show: (tokens: TokenIds) => string,
): RolloutRow => {
  const { rollout, parts } = item
  const prompt = show(rollout.prompt)
  return {
    ...rolloutFields(step, item),
    problemId: prompt,
    prompt,
    response: show(rollout.tokens),
    ...(rollout.turns.length > 1 && { turns: spokenTurns(rollout, show) }),
    parts,
  }
}

/** The policy's turns and what an environment said after each, in words. */
export const spokenTurns = (
  { tokens, turns }: Pick<Rollout, 'tokens' | 'turns'>,
  show: (tokens: TokenIds) => string,
): RolloutTurn[] =>
  turns.flatMap(({ start, end }, i) => {
    const next = turns[i + 1]?.start ?? tokens.length
    const turn: RolloutTurn = { by: 'policy', text: show(tokens.subarray(start, end)) }
    const reply: RolloutTurn = { by: 'environment', text: show(tokens.subarray(end, next)) }
    return end < next ? [turn, reply] : [turn]
  })
