/** @file Corrections for rollouts that another policy, or the same one in another engine, has sampled. */

import { ShapeError } from '../util/errors.ts'
import { clampBoth, LOG_RATIO_CLAMP } from './loss.ts'

export interface ImportanceOptions {
  /** One ratio per token, or the product over the sequence's tokens for all of them. Default `token`. */
  level?: 'token' | 'sequence'
  /** Beyond the bounds: `truncate` clamps the ratio, `mask` sets the weight to 0. Default `truncate`. */
  action?: 'truncate' | 'mask'
  /** Upper bound. Default 2 (verl, slime); TRL uses 3. */
  max?: number
  /** Lower bound. Default 0; above it with `mask` this is IcePop (slime 624b824a8). */
  min?: number
}

const sameLength = (name: string, a: ArrayLike<number>, b: ArrayLike<number>, mask: ArrayLike<number>) => {
  if (a.length !== mask.length || b.length !== mask.length)
    throw new ShapeError(
      `${name}: expected log-probs and mask of one length, got ${a.length}, ${b.length}, ${mask.length}; score the tokens that were sampled`,
    )
}

/**
 * Truncated importance weights exp(logp - sampling logp) between the trainer's and the sampler's log-probs of the same
 * tokens, bounded, to multiply the policy loss with; constants for the gradient (TRL f2cd57710 rollout mismatch, verl
 * `rollout_corr_helper.py`, slime). Tokens outside the mask get weight 0.
 * @throws ShapeError when the lengths differ.
 */
export const importanceWeights = (
  logprobs: ArrayLike<number>,
  samplingLogprobs: ArrayLike<number>,
  mask: ArrayLike<number>,
  { level = 'token', action = 'truncate', max = 2, min = 0 }: ImportanceOptions = {},
): Float64Array => {
  sameLength('importanceWeights', logprobs, samplingLogprobs, mask)
  const bounded = (logRatio: number): number => {
    const ratio = Math.exp(clampBoth(logRatio, -LOG_RATIO_CLAMP, LOG_RATIO_CLAMP))
    if (action === 'mask') return ratio > max || ratio < min ? 0 : ratio
    return Math.min(max, Math.max(min, ratio))
  }
  const logRatios = Float64Array.from(mask, (m, t) => (m === 0 ? 0 : logprobs[t] - samplingLogprobs[t]))
  if (level === 'token') return logRatios.map((logRatio, t) => (mask[t] === 0 ? 0 : bounded(logRatio)))
  const whole = bounded(logRatios.reduce((sum, logRatio) => sum + logRatio, 0))
  return logRatios.map((_, t) => (mask[t] === 0 ? 0 : whole))
}

/**
 * Off-policy sequence mask: drops a sequence with negative advantage when the mean of sampling logp - logp over its
 * tokens exceeds the threshold, because pushing down what the policy no longer says destabilises it (DeepSeek-V3.2,
 * arXiv 2512.02556; TRL f2cd57710).
 * @returns 1 to keep, 0 to drop
 */
export const offPolicyMask = (
  advantage: number,
  logprobs: ArrayLike<number>,
  samplingLogprobs: ArrayLike<number>,
  mask: ArrayLike<number>,
  threshold: number,
): 0 | 1 => {
  sameLength('offPolicyMask', logprobs, samplingLogprobs, mask)
  if (advantage >= 0) return 1
  let sum = 0
  let count = 0
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] === 0) continue
    sum += mask[t] * (samplingLogprobs[t] - logprobs[t])
    count += mask[t]
  }
  return count > 0 && sum / count > threshold ? 0 : 1
}
