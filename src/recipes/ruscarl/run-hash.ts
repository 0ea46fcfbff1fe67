/** @file What must stay the same between stop and resume. */

import { judgeIdentity } from '../common/judge-identity.ts'
import { memoryForHash } from '../common/lessons-config.ts'
import { decidingHash } from '../common/session.ts'
import type { RuscarlConfig } from './config.ts'

/**
 * Hash of all that decides what is computed. A held-out judge changes nothing of the training, but two of them are not to be
 * compared over the steps; how much it is asked may change.
 */
export const runHash = (config: RuscarlConfig): string => {
  const { judge } = config
  const who = judge && {
    ...judgeIdentity(judge),
    ...(judge.heldOut && { heldOut: judgeIdentity(judge.heldOut) }),
  }
  const { groupJudge } = config
  const together =
    groupJudge?.kind === 'chat'
      ? { ...groupJudge, ...judgeIdentity(groupJudge), fleet: undefined, cache: undefined }
      : groupJudge
  return decidingHash({ ...memoryForHash(config), judge: who, ...(together && { groupJudge: together }) })
}
