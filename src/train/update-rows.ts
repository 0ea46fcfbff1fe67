/** @file What a step's rollouts leave in the run whatever the recipe: metrics for its metrics row, and the rows that are kept. */

import type { TokenIds } from '../rl/datum.ts'
import {
  type Credited,
  type Groups,
  meanAdvantage,
  type Reward,
  type Rollout,
  rewardsOf,
  writtenTokens,
} from '../rl/rollout.ts'
import type { MetricsRow, RolloutRow, RolloutTurn } from '../runs/rows.ts'
import { mean, meanKnown, std } from '../util/statistics.ts'
import type { LearntRollout } from './recipe.ts'
import { tokenFields } from './token-fields.ts'

/**
 * Means are over the rollouts that were learnt from; what was sampled in vain counts as work, not as what the step learnt from.
 * @param drawn everything that was sampled
 */
export const rolloutMetrics = (
  learnt: readonly LearntRollout[],
  drawn: readonly Rollout[],
): Omit<MetricsRow, 'step'> => {
  const rollouts = learnt.map(({ rollout }) => rollout)
  const turns = rollouts.map(rollout => rollout.turns.length)
  const roles = [...new Set(rollouts.map(({ role }) => role))]
  const share = (end: Rollout['end']) => meanKnown(rollouts.map(rollout => Number(rollout.end === end)))
  const lengthOf = (role: string) => meanKnown(rollouts.filter(own => own.role === role).map(writtenTokens))
  return {
    responseTokens: meanKnown(rollouts.map(writtenTokens)),
    truncationRate: share('length'),
    tokens: drawn.reduce((sum, rollout) => sum + writtenTokens(rollout), 0),
    rollouts: drawn.length,
    ...(turns.some(count => count > 1) && { turns: meanKnown(turns), failedRollouts: share('failed') }),
    ...(roles.length > 1 && { roleTokens: Object.fromEntries(roles.map(role => [role, lengthOf(role)])) }),
  }
}

/**
 * How many optimiser steps the weights that drew the rollouts lie behind; nothing where policy or rollouts do not say.
 * @param version steps that the policy has taken before it learns from them
 */
export const staleness = (
  learnt: readonly LearntRollout[],
  version: number | undefined,
): { staleness?: { mean: number; max: number } } => {
  const lags = learnt.flatMap(({ rollout }) =>
    version === undefined || rollout.version === undefined ? [] : [version - rollout.version],
  )
  return lags.length > 0 ? { staleness: { mean: mean(lags), max: Math.max(...lags) } } : {}
}

/** The prompt that a rollout was sampled from, and the problem's own where that shows no hints. */
export const promptFields = (
  prompt: TokenIds,
  sampledFrom: TokenIds | undefined,
  show: (tokens: TokenIds) => string,
): Pick<RolloutRow, 'prompt' | 'plainPrompt'> => {
  const [plain, shown] = [show(prompt), show(sampledFrom ?? prompt)]
  return { prompt: shown, ...(shown !== plain && { plainPrompt: plain }) }
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

/** The rows that are kept of an update: so many of each role. */
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

/**
 * A row in words, for recipes that have no more to say of a rollout: its prompt stands for the problem, and a rollout of
 * several turns says who spoke.
 * @example
 * const own = { key: 'q/0', role: 'policy', group: 'q', sample: 0, prompt: [3, 4], turns: [{ start: 0, end: 2 }] }
 * const drawn = { tokens: Int32Array.of(7, 9), mask: Uint8Array.of(1, 1), logprobs: Float32Array.of(-0.1, -0.2) }
 * const paid = { reward: 1, parts: { right: 1 }, advantages: Float32Array.of(0.5, 0.5) }
 * const row = rolloutRow(1, { rollout: { ...own, ...drawn, end: 'stop' }, ...paid }, tokens => tokens.join(' '))
 * row.response // '7 9'
 * row.advantage // 0.5
 */
export const rolloutRow = (
  step: number,
  item: Omit<Credited<unknown, unknown>, 'problem' | 'grade'>,
  show: (tokens: TokenIds) => string,
): RolloutRow => {
  const { rollout, parts } = item
  const prompt = show(rollout.prompt)
  return {
    ...rolloutFields(step, item),
    problemId: prompt,
    prompt,
    response: show(rollout.tokens),
    ...tokenFields(item, show(rollout.tokens), show),
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

/**
 * Mean and spread of what was paid; null where nothing was.
 * @example
 * rewardMetrics([[{ reward: 1, parts: {} }, { reward: 0, parts: {} }, { reward: null, parts: {} }]]) // { reward: 0.5, rewardStd: 0.5 }
 */
export const rewardMetrics = (groups: Groups<Reward>): Pick<MetricsRow, 'reward' | 'rewardStd'> => {
  const paid = rewardsOf(groups).flatMap(own => own.filter(reward => reward !== null))
  return { reward: meanKnown(paid), rewardStd: paid.length > 0 ? std(paid) : null }
}

/**
 * Mean of each part of the rewards, by name, over the rollouts that have it.
 * @example
 * partMeans([[{ reward: 1, parts: { right: 1, short: null } }, { reward: 0, parts: { right: 0, short: 1 } }]]) // { right: 0.5, short: 1 }
 */
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
