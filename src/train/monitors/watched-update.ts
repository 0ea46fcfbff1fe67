/** @file A step's rollouts as monitors see them: metrics about all of them at once, rows only when a warning asks. */

import { meanAdvantage, type Rollout } from '../../rl/rollout.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import { meanKnown } from '../../util/statistics.ts'
import type { StepUpdate } from '../recipe.ts'
import { monitoredMetrics } from './metrics.ts'
import type { WatchedRollout } from './monitor.ts'

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
