/** @file Figures of a step's rewards that every recipe with rubrics reports. */

import { type Groups, type Reward, rewardsOf } from '../../rl/rollout.ts'
import { type JudgedResponse, pointShares } from '../../rubric/shares.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import { mean, std } from '../../util/statistics.ts'

type Figures = Omit<MetricsRow, 'step'>

/** Mean and spread of what was paid; null where nothing was. */
export const rewardFigures = (groups: Groups<Reward>): Figures => {
  const paid = rewardsOf(groups).flatMap(own => own.filter(reward => reward !== null))
  return { reward: paid.length > 0 ? mean(paid) : null, rewardStd: paid.length > 0 ? std(paid) : null }
}

/** Which criteria the points come from; nothing where no point was earned. */
export const shareFigures = (
  judged: readonly JudgedResponse[],
  weights?: Readonly<Record<string, number>>,
): Figures => {
  const shares = pointShares(judged, weights)
  return shares ? { rewardShare: shares.earned, pointShare: shares.toBeHad } : {}
}
