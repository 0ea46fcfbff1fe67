/** @file The loss as data, and its scalar reference: what the tensor engine must compute, token by token. */

import { z } from 'zod'
import { NumericError, ShapeError } from '../util/errors.ts'
import { amount } from '../util/setting-shapes.ts'
import { type AggregationContext, aggregationSchema, tokenWeights, weightedSum } from './aggregate.ts'
import { klPerToken } from './kl.ts'

const policySchema = z.strictObject({
  kind: z
    .enum(['clip', 'cispo', 'gspo', 'reinforce', 'none'])
    .describe(
      "The loss of a token with ratio r and advantage A. `clip`: max(-r A, -clip(r, 1 - clipLow, 1 + clipHigh) A) (PPO, GRPO, DAPO). `gspo`: the same with the sequence's ratio, exp of the mean log-ratio (arXiv 2507.18071). `cispo`: -stopgrad(clip(r)) A logp (arXiv 2506.13585). `reinforce`: -A logp. `none`: no policy term.",
    ),
  clipLow: amount.default(0.2).describe("The ratio's lower bound is 1 - clipLow; 1: no lower bound."),
  clipHigh: amount.default(0.2).describe("The ratio's upper bound is 1 + clipHigh."),
  dualClip: z
    .number()
    .gt(1)
    .nullable()
    .default(null)
    .describe(
      "Bound c > 1 on the loss of bad actions: min(loss, -c A) where A < 0 (arXiv 1912.09729; TRL's `delta`).",
    ),
})

/** Shape of a loss in a file; see `LossSpec`. */
export const lossSchema = z.strictObject({
  policy: policySchema.describe('The policy-gradient term.'),
  kl: z
    .strictObject({
      kind: z.enum(['none', 'k1', 'k2', 'k3', 'abs']).describe('Estimator of the divergence.'),
      coef: amount.default(0).describe('Weight of the term.'),
    })
    .default({ kind: 'none', coef: 0 })
    .describe('Penalty coef x estimator of KL(policy || reference), added to the loss.'),
  entropyCoef: amount.default(0).describe('Bonus: this times the mean entropy is taken off the loss.'),
  value: z
    .strictObject({
      coef: amount.describe('Weight of the term.'),
      clip: z
        .number()
        .gt(0)
        .nullable()
        .default(null)
        .describe('Largest change of a value in an update; null: no limit.'),
    })
    .nullable()
    .default(null)
    .describe(
      "Critic's term: coef x half the larger of the squared errors with and without clipping; clip null: no clipping.",
    ),
  crossEntropyCoef: amount
    .default(0)
    .describe("Coefficient of -logp: supervised learning, or a supervised term beside the policy's."),
  aggregation: aggregationSchema.describe('How token losses become one number.'),
})

/** A loss as a plain object: it can be written to a file, sent to a worker, and compiled into a graph. */
export type LossSpec = z.output<typeof lossSchema>
export type PolicyLossSpec = LossSpec['policy']

/** Log-ratios are clamped to this before exp (verl 1dda039b9), so that one wild token cannot become infinity. */
export const LOG_RATIO_CLAMP = 20
/** The sequence's log-ratio of GSPO is clamped from above (verl). */
export const GSPO_LOG_RATIO_MAX = 10

/** What one sequence brings to the loss; all arrays per token. */
export interface LossSequence {
  /** Of the policy being trained. */
  logprobs: ArrayLike<number>
  /** Of the policy that sampled. */
  oldLogprobs: ArrayLike<number>
  refLogprobs?: ArrayLike<number>
  advantages: ArrayLike<number>
  mask: ArrayLike<number>
  /** Extra factor on policy and cross-entropy terms, for example an off-policy correction. */
  weights?: ArrayLike<number>
  /** Entropy of the distribution at each token, nats. */
  entropies?: ArrayLike<number>
  values?: ArrayLike<number>
  oldValues?: ArrayLike<number>
  returns?: ArrayLike<number>
}

export const clampBoth = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x))

/** What ratios are clipped to. */
export const clipBounds = ({ clipLow, clipHigh }: PolicyLossSpec) => ({
  low: Math.max(0, 1 - clipLow),
  high: 1 + clipHigh,
})

/** Clipped surrogate of one token (PPO, arXiv 1707.06347 Eq. 7, as a loss), with the dual clip of arXiv 1912.09729. */
export const clippedLoss = (ratio: number, advantage: number, spec: PolicyLossSpec): number => {
  const { low, high } = clipBounds(spec)
  const loss = Math.max(-advantage * ratio, -advantage * clampBoth(ratio, low, high))
  return spec.dualClip !== null && advantage < 0 ? Math.min(loss, -advantage * spec.dualClip) : loss
}

/**
 * exp of the mean log-ratio over the masked tokens: the sequence's ratio of GSPO.
 * @example
 * sequenceRatio({ logprobs: [-1, -1], oldLogprobs: [-1.1, -0.9], mask: [1, 1] }) // 1
 */
export const sequenceRatio = ({ logprobs, oldLogprobs, mask }: Omit<LossSequence, 'advantages'>): number => {
  let sum = 0
  let count = 0
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] === 0) continue
    sum += mask[t] * (logprobs[t] - oldLogprobs[t])
    count += mask[t]
  }
  return count > 0 ? Math.exp(Math.min(sum / count, GSPO_LOG_RATIO_MAX)) : 1
}

export interface PolicyLoss {
  /** Loss of each token before aggregation; 0 outside the mask. */
  losses: Float64Array
  /** 1 where the clip took effect. */
  clipped: Uint8Array
}

/**
 * Policy loss of each token of one sequence: the scalar reference for the engine (formulas in `PolicyLossSpec`; values
 * as in verl 1dda039b9 `core_algos.py` and SkyRL a9564572e). Positions outside the mask are 0 whatever they hold.
 * @throws ShapeError when lengths differ; NumericError for a masked token whose loss is not finite.
 */
export const policyLossPerToken = (spec: PolicyLossSpec, sequence: LossSequence): PolicyLoss => {
  const { logprobs, oldLogprobs, advantages, mask, weights } = sequence
  checkLengths(sequence)
  const losses = new Float64Array(mask.length)
  const clipped = new Uint8Array(mask.length)
  if (spec.kind === 'none') return { losses, clipped }
  const shared = spec.kind === 'gspo' ? sequenceRatio(sequence) : null
  const { low, high } = clipBounds(spec)
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] === 0) continue
    const logRatio = clampBoth(logprobs[t] - oldLogprobs[t], -LOG_RATIO_CLAMP, LOG_RATIO_CLAMP)
    const ratio = shared ?? Math.exp(logRatio)
    losses[t] = tokenLoss(spec, ratio, advantages[t], logprobs[t]) * (weights?.[t] ?? 1)
    clipped[t] = spec.kind === 'reinforce' ? 0 : clipActive(spec.kind, ratio, advantages[t], low, high)
    if (!Number.isFinite(losses[t]))
      throw new NumericError(
        `policy loss: token ${t}: expected a finite number, got ${losses[t]} (logp ${logprobs[t]}, old ${oldLogprobs[t]}, advantage ${advantages[t]}); lower the learning rate or check the rewards`,
      )
  }
  return { losses, clipped }
}

const tokenLoss = (spec: PolicyLossSpec, ratio: number, advantage: number, logprob: number): number => {
  if (spec.kind === 'reinforce') return -advantage * logprob
  if (spec.kind !== 'cispo') return clippedLoss(ratio, advantage, spec)
  const { low, high } = clipBounds(spec)
  return -clampBoth(ratio, low, high) * advantage * logprob
}

const clipActive = (kind: string, ratio: number, advantage: number, low: number, high: number): number => {
  if (kind === 'cispo') return Number(ratio < low || ratio > high)
  return Number((advantage > 0 && ratio > high) || (advantage < 0 && ratio < low))
}

const checkLengths = (sequence: LossSequence): void => {
  const expected = sequence.mask.length
  for (const [name, array] of Object.entries(sequence) as [string, ArrayLike<number> | undefined][])
    if (array && array.length !== expected)
      throw new ShapeError(
        `loss: ${name}: expected ${expected} tokens as in mask, got ${array.length}; build the datum from one rollout`,
      )
}

/**
 * Value loss of one token: half of max((v - R)^2, (clip(v, vOld +- clip) - R)^2) (verl 1dda039b9 `compute_value_loss`).
 */
export const valueLoss = (value: number, oldValue: number, target: number, clip: number | null): number => {
  const plain = (value - target) ** 2
  if (clip === null) return 0.5 * plain
  return 0.5 * Math.max(plain, (clampBoth(value, oldValue - clip, oldValue + clip) - target) ** 2)
}

export interface BatchLoss {
  loss: number
  /** Aggregated terms before their coefficients. */
  parts: { policy: number; kl: number; entropy: number; value: number; crossEntropy: number }
  /** Share of masked tokens where the clip took effect. */
  clipFraction: number
}

/** Per-token array of a term, or null when the term is switched off. */
type Term = (sequence: LossSequence) => ArrayLike<number>

const required = (name: string, array: ArrayLike<number> | undefined): ArrayLike<number> => {
  if (!array)
    throw new ShapeError(`loss: expected ${name} in every datum, got none; the loss specification needs them`)
  return array
}

/**
 * Whole loss of a batch with its parts, in plain arithmetic: policy + kl.coef KL - entropyCoef entropy + value.coef
 * value + crossEntropyCoef cross-entropy, each aggregated alike. The engine's graphs are tested against it.
 * @throws ShapeError when a term lacks its arrays.
 */
export const batchLoss = (
  spec: LossSpec,
  sequences: readonly LossSequence[],
  context: AggregationContext = {},
): BatchLoss => {
  const masks = sequences.map(({ mask }) => mask)
  const weights = tokenWeights(masks, spec.aggregation, context)
  const total = (active: boolean, term: Term) => (active ? weightedSum(sequences.map(term), weights) : 0)
  const policy = sequences.map(sequence => policyLossPerToken(spec.policy, sequence))
  const parts = {
    policy: weightedSum(
      policy.map(({ losses }) => losses),
      weights,
    ),
    kl: total(spec.kl.kind !== 'none', klTerm(spec)),
    entropy: total(spec.entropyCoef !== 0, ({ entropies }) => required('entropies', entropies)),
    value: total(spec.value !== null, valueTerm(spec)),
    crossEntropy: total(spec.crossEntropyCoef !== 0, ({ logprobs, weights: extra }) =>
      Float64Array.from(logprobs, (logprob, t) => -logprob * (extra?.[t] ?? 1)),
    ),
  }
  const loss =
    parts.policy +
    spec.kl.coef * parts.kl -
    spec.entropyCoef * parts.entropy +
    (spec.value?.coef ?? 0) * parts.value +
    spec.crossEntropyCoef * parts.crossEntropy
  return { loss, parts, clipFraction: clipShare(policy, masks) }
}

// The mask enters once, through the aggregation weights: the estimates themselves are taken with a mask of ones.
const klTerm =
  ({ kl }: LossSpec): Term =>
  ({ logprobs, refLogprobs, mask }) => {
    const used = Float64Array.from(mask, m => Number(m !== 0))
    return kl.kind === 'none'
      ? used
      : klPerToken(kl.kind, logprobs, required('refLogprobs', refLogprobs), used)
  }

const valueTerm =
  ({ value: spec }: LossSpec): Term =>
  ({ values, oldValues, returns }) => {
    const now = required('values', values)
    const old = spec?.clip == null ? now : required('oldValues', oldValues)
    const target = required('returns', returns)
    return Float64Array.from(now, (value, t) => valueLoss(value, old[t], target[t], spec?.clip ?? null))
  }

const clipShare = (policy: readonly PolicyLoss[], masks: readonly ArrayLike<number>[]): number => {
  let clipped = 0
  let tokens = 0
  for (const [b, mask] of masks.entries())
    for (let t = 0; t < mask.length; t++) {
      tokens += Number(mask[t] !== 0)
      clipped += policy[b].clipped[t]
    }
  return tokens > 0 ? clipped / tokens : 0
}
