/** @file What must stay the same between stop and resume. */

import type { JudgeConfig } from '../../grade/judge/judge-config.ts'
import { decidingHash } from '../common/session.ts'
import type { RuscarlConfig } from './config.ts'

/** Who a judge is and how it is asked, not where it runs. */
const whoIs = ({ ask, fleet: { endpoints } }: JudgeConfig) => {
  const bodies = endpoints.map(({ extraBody }) => extraBody)
  return {
    ask,
    models: endpoints.map(({ model }) => model),
    // Absent where there are none, as in runs from before it was part of the hash.
    ...(bodies.some(body => Object.keys(body).length > 0) && { bodies }),
  }
}

/**
 * Hash of all that decides what is computed. A held-out judge changes nothing of the training, but two of them are not to be
 * compared over the steps; how much it is asked may change.
 */
export const runHash = (config: RuscarlConfig): string => {
  const { judge } = config
  const who = judge && { ...whoIs(judge), ...(judge.heldOut && { heldOut: whoIs(judge.heldOut) }) }
  return decidingHash({ ...config, judge: who })
}
