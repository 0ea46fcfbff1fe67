/** @file A step's rollouts as monitors see them: metrics about all of them at once, rows only when a warning asks. */

import type { TokenIds } from '../../rl/datum.ts'
import { meanAdvantage, type Rollout } from '../../rl/rollout.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import { meanKnown, pearson } from '../../util/statistics.ts'
import type { StepUpdate } from '../recipe.ts'
import type { WatchedRollout } from './monitor.ts'
import { repeatedShare } from './responses.ts'

export interface WatchedUpdate {
  /** What monitors need to know of the rollouts and no other metric says; waits for the held-out judge. */
  metrics: Promise<Omit<MetricsRow, 'step'>>
  rollouts(): WatchedRollout[]
}

/** What the policy wrote: what a tool says again and again is not its doing. */
const writtenBy = ({ tokens, logprobs, mask }: Rollout): Pick<Rollout, 'tokens' | 'logprobs'> => {
  if (!mask.includes(0)) return { tokens, logprobs }
  const isOwn = (_: number, t: number) => mask[t] === 1
  return { tokens: tokens.filter(isOwn), logprobs: logprobs.filter(isOwn) }
}

/**
 * `repetition`: mean share of repeated sequences. `lengthAdvantage`: correlation of length and mean advantage, what length is
 * paid; null where one of them does not vary.
 * @param responses each with its tokens and mean advantage
 */
export const monitoredMetrics = (
  responses: readonly { tokens: TokenIds; advantage: number }[],
): { repetition: number | null; lengthAdvantage: number | null } => ({
  repetition: meanKnown(responses.map(({ tokens }) => repeatedShare(tokens))),
  lengthAdvantage: pearson(
    responses.map(({ tokens }) => tokens.length),
    responses.map(({ advantage }) => advantage),
  ),
})

export const watchUpdate = ({
  rollouts,
  heldOut,
}: Pick<StepUpdate, 'rollouts' | 'heldOut'>): WatchedUpdate => {
  let scores: readonly (number | null)[] | null = null
  const items = rollouts.map(item => ({
    ...item,
    ...writtenBy(item.rollout),
    advantage: meanAdvantage(item),
  }))
  const work = async (): Promise<Omit<MetricsRow, 'step'>> => {
    const opinion = await heldOut
    scores = opinion?.scores ?? null
    return {
      ...(opinion?.time && { time: opinion.time }),
      ...(scores && { heldOut: meanKnown(scores) }),
      ...monitoredMetrics(items),
    }
  }
  const metrics = work()
  // They are awaited after the update; until then a failure must not count as unhandled.
  metrics.catch(() => {})
  const groups = [...new Set(rollouts.map(({ rollout }) => rollout.group))]
  return {
    metrics,
    rollouts: () =>
      items.map(({ row, tokens, logprobs, rollout: { group }, advantage }, i) => {
        const score = scores?.[i] ?? null
        const own = { ...row(), ...(score !== null && { heldOut: score }) }
        return { row: own, tokens, logprobs, group: groups.indexOf(group), advantage }
      }),
  }
}
