/** @file A rollout of the records task by stages, in text and in tokens. */

import { stagedRollout } from '../../grade/evolving/index.ts'
import { parseRollout, rolloutText } from '../research/index.ts'
import type { StagedRead } from '../stages.ts'
import { RECORDS_VOCABULARY } from './vocabulary.ts'

/** @param key names the rollout */
export const stagedAttempt = (
  key: string,
  tokens: ArrayLike<number>,
  mask: ArrayLike<number>,
  maxCalls: number,
): StagedRead => {
  const pieces = Array.from(tokens, token => RECORDS_VOCABULARY[token] ?? '')
  const whole = rolloutText(pieces, mask)
  const { stages, tokenStages, valid } = parseRollout(whole, { maxCalls })
  return { staged: stagedRollout(key, whole.text, stages), tokenStages, wellFormed: valid }
}
