/** @file A rollout of the records task by stages, in text and in tokens. */

import { type StagedRollout, stagedRollout } from '../../grade/evolving/index.ts'
import { parseRollout, rolloutText } from '../research/index.ts'
import { RECORDS_VOCABULARY } from './vocabulary.ts'

export interface StagedAttempt {
  staged: StagedRollout
  /** The stage of each token; 0 where the tool wrote. */
  tokenStages: Uint8Array
  /** Keeps to the scaffold: plan, a search before the answer, review, answer. */
  wellFormed: boolean
}

/** @param key names the rollout */
export const stagedAttempt = (
  key: string,
  tokens: ArrayLike<number>,
  mask: ArrayLike<number>,
  maxCalls: number,
): StagedAttempt => {
  const pieces = Array.from(tokens, token => RECORDS_VOCABULARY[token] ?? '')
  const whole = rolloutText(pieces, mask)
  const { stages, tokenStages, valid } = parseRollout(whole, { maxCalls })
  return { staged: stagedRollout(key, whole.text, stages), tokenStages, wellFormed: valid }
}
