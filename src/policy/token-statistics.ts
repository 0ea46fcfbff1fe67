/** @file How far a policy has moved from the one that sampled, token by token: what `BatchStats` tells of it. */

import type { LossSequence } from '../rl/loss.ts'

/** Counts and log-ratios over the policy tokens of a batch; see `BatchStats`. */
export const tokenStatistics = (
  sequences: readonly Pick<LossSequence, 'mask' | 'logprobs' | 'oldLogprobs'>[],
) => {
  let [tokens, oldKl, absolute, largest] = [0, 0, 0, 0]
  let [maxLogRatio, minLogRatio] = [0, 0]
  for (const { mask, logprobs, oldLogprobs } of sequences) {
    for (let t = 0; t < mask.length; t++) {
      if (mask[t] === 0) continue
      const logRatio = logprobs[t] - oldLogprobs[t]
      tokens++
      oldKl -= logRatio
      absolute += Math.abs(logRatio)
      largest = Math.max(largest, Math.abs(logRatio))
      maxLogRatio = Math.max(maxLogRatio, logRatio)
      minLogRatio = Math.min(minLogRatio, logRatio)
    }
  }
  const perToken = 1 / Math.max(tokens, 1)
  return {
    tokens,
    oldKl: oldKl * perToken,
    meanLogprobDifference: absolute * perToken,
    maxLogprobDifference: largest,
    maxRatio: Math.exp(maxLogRatio),
    minRatio: Math.exp(minLogRatio),
  }
}
