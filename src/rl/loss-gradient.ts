/** @file The derivative of a loss by the log-prob of each token: enough to train where only weighted log-probs can be learnt. */

import { ShapeError } from '../util/errors.ts'
import { type AggregationContext, tokenWeights } from './aggregate.ts'
import {
  clampBoth,
  clipBounds,
  GSPO_LOG_RATIO_MAX,
  LOG_RATIO_CLAMP,
  type LossSequence,
  type LossSpec,
  type PolicyLossSpec,
} from './loss.ts'

/**
 * dL/dlogp of every token of a batch, by the chain rule of what `batchLoss` computes: the gradient of the loss by the weights is
 * the sum of these times the gradients of the log-probs. Entropy and value terms are not functions of the log-probs alone, and
 * are left out.
 * @returns [sequence][token], 0 outside the mask
 * @throws ShapeError where a KL term lacks its reference
 */
export const lossGradient = (
  spec: LossSpec,
  sequences: readonly LossSequence[],
  context: AggregationContext = {},
): Float64Array[] => {
  const weights_B_T = tokenWeights(
    sequences.map(({ mask }) => mask),
    spec.aggregation,
    context,
  )
  return sequences.map((sequence, b) => {
    const weights = weights_B_T[b]
    const gradient = policyGradient(spec.policy, sequence, weights)
    for (let t = 0; t < gradient.length; t++) {
      if (weights[t] === 0) continue
      const factor = sequence.weights?.[t] ?? 1
      gradient[t] -= spec.crossEntropyCoef * factor * weights[t]
      gradient[t] += klSlope(spec.kl, sequence, t) * weights[t]
    }
    return gradient
  })
}

const policyGradient = (
  spec: PolicyLossSpec,
  sequence: LossSequence,
  weights: Float64Array,
): Float64Array => {
  const gradient = new Float64Array(weights.length)
  if (spec.kind === 'none') return gradient
  if (spec.kind === 'gspo') return sequenceGradient(spec, sequence, weights)
  const { logprobs, oldLogprobs, advantages } = sequence
  for (let t = 0; t < gradient.length; t++) {
    if (weights[t] === 0) continue
    const scale = weights[t] * (sequence.weights?.[t] ?? 1)
    const logRatio = spec.kind === 'reinforce' ? 0 : logprobs[t] - oldLogprobs[t]
    gradient[t] = scale * tokenSlope(spec, logRatio, advantages[t])
  }
  return gradient
}

const tokenSlope = (spec: PolicyLossSpec, logRatio: number, advantage: number): number => {
  if (spec.kind === 'reinforce') return -advantage
  const { low, high } = clipBounds(spec)
  const ratio = Math.exp(clampBoth(logRatio, -LOG_RATIO_CLAMP, LOG_RATIO_CLAMP))
  if (spec.kind === 'cispo') return -clampBoth(ratio, low, high) * advantage
  if (Math.abs(logRatio) > LOG_RATIO_CLAMP) return 0
  return ratio * ratioSlope(spec, ratio, advantage)
}

/** Derivative of the clipped loss by the ratio: minus the advantage, or 0 where a bound holds. */
const ratioSlope = (spec: PolicyLossSpec, ratio: number, advantage: number): number => {
  const { low, high } = clipBounds(spec)
  const held = advantage > 0 ? ratio > high : ratio < low
  const dual = spec.dualClip !== null && advantage < 0 && -advantage * ratio > -advantage * spec.dualClip
  return held || dual ? 0 : -advantage
}

/** Every token moves the ratio of its sequence, by which the losses of all tokens go. */
const sequenceGradient = (
  spec: PolicyLossSpec,
  { logprobs, oldLogprobs, advantages, mask, weights: factors }: LossSequence,
  weights: Float64Array,
): Float64Array => {
  let [sum, count, slope] = [0, 0, 0]
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] === 0) continue
    sum += mask[t] * (logprobs[t] - oldLogprobs[t])
    count += mask[t]
  }
  const mean = count > 0 ? sum / count : 0
  const ratio = Math.exp(Math.min(mean, GSPO_LOG_RATIO_MAX))
  for (let t = 0; t < mask.length; t++)
    if (weights[t] !== 0) slope += weights[t] * (factors?.[t] ?? 1) * ratioSlope(spec, ratio, advantages[t])
  const isMoved = count > 0 && mean <= GSPO_LOG_RATIO_MAX
  return Float64Array.from(weights, (_, t) =>
    isMoved && mask[t] !== 0 ? (slope * ratio * mask[t]) / count : 0,
  )
}

const klSlope = (
  { kind, coef }: LossSpec['kl'],
  { logprobs, refLogprobs }: LossSequence,
  t: number,
): number => {
  if (kind === 'none' || coef === 0) return 0
  if (!refLogprobs)
    throw new ShapeError(
      'loss: expected refLogprobs in every datum, got none; the loss specification needs them',
    )
  const d = logprobs[t] - refLogprobs[t]
  if (kind === 'k1') return coef
  if (kind === 'abs') return coef * Math.sign(d)
  if (kind === 'k2') return coef * d
  return coef * (1 - Math.exp(-d))
}
