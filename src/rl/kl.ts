/** @file Estimators of KL(policy || reference) per token, KL in the reward, and the adaptive coefficient. */

import { NumericError, ShapeError } from '../util/errors.ts'

/**
 * Per-token estimators from sampled tokens (Schulman, "Approximating KL divergence", 2020): k1 = d, abs = |d|,
 * k2 = d^2 / 2, k3 = exp(-d) - 1 + d with d = logp - logpRef. k3 is what others call `low_var_kl` or KL3.
 */
export type KlKind = 'k1' | 'k2' | 'k3' | 'abs'

/** verl clamps the log-ratio inside k3 to this range (1dda039b9, `kl_penalty`). */
export const KL_LOG_RATIO_CLAMP = 20
/** verl clamps k3 itself to this range. */
export const KL_CLAMP = 10

export interface KlOptions {
  /** Clamp k3 as verl does: log-ratio to +-20, result to +-10. Default false (TRL). */
  clamp?: boolean
}

const limit = (x: number, bound: number) => Math.min(bound, Math.max(-bound, x))

/**
 * One token's estimate; see `KlKind`.
 * @example
 * klEstimate('k3', -1, -1.5) // 0.1065
 */
export const klEstimate = (
  kind: KlKind,
  logp: number,
  refLogp: number,
  { clamp = false }: KlOptions = {},
): number => {
  const d = logp - refLogp
  if (kind === 'k1') return d
  if (kind === 'abs') return Math.abs(d)
  if (kind === 'k2') return 0.5 * d * d
  const back = clamp ? limit(-d, KL_LOG_RATIO_CLAMP) : -d
  const k3 = Math.expm1(back) - back
  return clamp ? limit(k3, KL_CLAMP) : k3
}

/**
 * Estimates of a sequence times the mask. A position with mask 0 is exactly 0, whatever its log-probs hold (padding may
 * be NaN); a fractional mask scales.
 * @throws ShapeError when the lengths differ.
 */
export const klPerToken = (
  kind: KlKind,
  logprobs: ArrayLike<number>,
  refLogprobs: ArrayLike<number>,
  mask: ArrayLike<number>,
  options: KlOptions = {},
): Float64Array => {
  if (refLogprobs.length !== logprobs.length || mask.length !== logprobs.length)
    throw new ShapeError(
      `klPerToken: expected log-probs, reference and mask of one length, got ${logprobs.length}, ${refLogprobs.length}, ${mask.length}; score the same tokens with both models`,
    )
  const kl = new Float64Array(logprobs.length)
  for (let t = 0; t < kl.length; t++)
    if (mask[t] !== 0) kl[t] = mask[t] * klEstimate(kind, logprobs[t], refLogprobs[t], options)
  return kl
}

/**
 * Token rewards of PPO: -beta x KL on every policy token, and the sequence's reward on the last one (verl
 * `apply_kl_penalty`). A sequence without policy tokens gets zeros.
 * @throws NumericError when the reward is not finite.
 */
export const tokenRewards = (
  reward: number,
  mask: ArrayLike<number>,
  { kl, beta = 0 }: { kl?: ArrayLike<number>; beta?: number } = {},
): Float64Array => {
  if (!Number.isFinite(reward))
    throw new NumericError(
      `tokenRewards: expected a finite reward, got ${reward}; check the grader that made it`,
    )
  const rewards = new Float64Array(mask.length)
  let last = -1
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] === 0) continue
    last = t
    if (kl && beta !== 0) rewards[t] = -beta * kl[t]
  }
  if (last >= 0) rewards[last] += reward
  return rewards
}

/**
 * Next coefficient of the adaptive controller: beta x (1 + clip(kl / target - 1, +-0.2) x steps / horizon) (Ziegler et
 * al. 2019, arXiv 1909.08593 section 2.2; verl and SkyRL).
 * @param steps samples or steps since the last call, in the unit of `horizon`
 */
export const adaptKlCoefficient = (
  beta: number,
  currentKl: number,
  { target, horizon, steps }: { target: number; horizon: number; steps: number },
): number => beta * (1 + (limit(currentKl / target - 1, 0.2) * steps) / horizon)
