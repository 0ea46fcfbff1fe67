/** @file What must stay the same between stop and resume. */

import { decidingHash } from '../common/session.ts'
import type { RuscarlConfig } from './config.ts'
import type { OneJudge } from './judge-config.ts'

/** Who a judge is and how it is asked, not where it runs. */
const whoIs = ({ ask, fleet }: OneJudge) => ({ ask, models: fleet.endpoints.map(({ model }) => model) })

/**
 * Hash of all that decides what is computed. A held-out judge changes nothing of the training, but two of them are not to be
 * compared over the steps; how much it is asked may change.
 */
export const runHash = (config: RuscarlConfig): string => {
  const { judge } = config
  const who = judge && { ...whoIs(judge), ...(judge.heldOut && { heldOut: whoIs(judge.heldOut) }) }
  return decidingHash({ ...config, judge: who })
}
