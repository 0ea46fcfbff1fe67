/** @file Where the points of a step's rewards come from: what every recipe with rubrics reports. */

import { type JudgedResponse, pointShares } from '../../rubric/shares.ts'
import type { MetricsRow } from '../../runs/rows.ts'

/** Which criteria the points come from; nothing where no point was earned. */
export const pointShareMetrics = (
  judged: readonly JudgedResponse[],
  weights?: Readonly<Record<string, number>>,
): Omit<MetricsRow, 'step'> => {
  const shares = pointShares(judged, weights)
  return shares ? { rewardShare: shares.earned, pointShare: shares.toBeHad } : {}
}
