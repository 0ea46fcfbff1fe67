/** @file The loss specification as a graph, term for term what `rl/loss.ts` computes in plain arithmetic. */

import type { ModelConfig } from '../../model/config.ts'
import {
  type BatchLayout,
  groupedHidden,
  groupedInputs,
  type KeyValueTaker,
  logitsOf,
  outputTable,
  SAMPLES,
  type Weights,
} from '../../model/transformer.ts'
import { GSPO_LOG_RATIO_MAX, LOG_RATIO_CLAMP, type LossSpec } from '../../rl/loss.ts'
import {
  abs,
  add,
  clamp,
  div,
  exp,
  expand,
  gather,
  greater,
  input,
  matmul,
  maximum,
  minimum,
  mul,
  neg,
  reduceSum,
  reshape,
  square,
  stopGradient,
  sub,
  type Tensor,
  tokenLogProbs,
  toPlaces,
  where,
} from '../../tensor/index.ts'

/** Per-token results of a forward pass, each [P, G, T]. */
export interface Forward {
  logprobs: Tensor
  entropy: Tensor
  values: Tensor | null
}

/** What a graph learns. */
export interface Learnt {
  /** Weights that gradients are wanted of. */
  trained: ReadonlySet<Tensor>
  /** See `transformer`. */
  recompute: boolean
  /** The loss has a term of the entropy. */
  entropy: boolean
}

/**
 * Log-probs and entropy of the targets at a temperature, and the value head's estimates.
 * @param learning null for a graph that only scores
 */
export const forwardGraph = (
  config: ModelConfig,
  weights: Weights,
  layout: BatchLayout,
  learning: Learnt | null = null,
): Forward => {
  const batch = groupedInputs(layout)
  const hidden = groupedHidden(config, weights, batch, learning?.recompute ? learning.trained : null)
  const count = hidden.shape[0]
  const targets = layout.unpadded
    ? input('targets', [count], 'int64')
    : reshape(input('targets', SAMPLES, 'int64'), [count])
  // Padding has no weight in a loss, and its values are those of some token.
  const inPlaces = (x: Tensor) =>
    reshape(batch.unpadded ? toPlaces(reshape(x, [count, 1]), batch.unpadded.samples.places) : x, SAMPLES)
  const scaled = mul(hidden, input('inverseTemperature', []))
  const table = outputTable(config, weights)
  const { logprobs, entropy } = tokenLogProbs(scaled, table, targets, {
    fixedTable: learning !== null && !learning.trained.has(table),
    learnsEntropy: learning?.entropy,
  })
  return {
    logprobs: inPlaces(logprobs),
    entropy: inPlaces(entropy),
    values: weights.has('value_head.weight') ? inPlaces(valueHead(weights, hidden)) : null,
  }
}

/** Before the names of what belongs to the prompts of a grouped batch. */
export const OF_PROMPTS = 'prompt.'

/**
 * Logits [L, V] after the samples' tokens at the places `last` [L].
 * @param keeps whether keys and values are outputs too: `k<l>` and `v<l>` [kvHeads, P*G*T, headDim] of samples, of prompts
 *   `prompt.k<l>` and `prompt.v<l>` [kvHeads, P*S, headDim]
 */
export const nextTokenGraph = (
  config: ModelConfig,
  weights: Weights,
  layout: BatchLayout,
  keeps: boolean,
): Record<string, Tensor> => {
  const kept: Record<string, Tensor> = {}
  const keep: KeyValueTaker = (layer, keys, values) => {
    const prefixes = layout.withPrefix ? [OF_PROMPTS, ''] : ['']
    prefixes.forEach((prefix, part) => {
      kept[`${prefix}k${layer}`] = keys[part]
      kept[`${prefix}v${layer}`] = values[part]
    })
  }
  const batch = groupedInputs(layout)
  const hidden = groupedHidden(config, weights, batch, null, keeps ? keep : undefined)
  const last = gather(hidden, input('last', ['L'], 'int64'))
  return { ...kept, logits: logitsOf(config, weights, last) }
}

const valueHead = (weights: Weights, hidden: Tensor): Tensor =>
  add(matmul(hidden, weights.get('value_head.weight'), { transposeB: true }), weights.get('value_head.bias'))

/** A term that counts nothing is not part of the graph, nor is what it reads. */
const learnsValues = ({ value }: LossSpec): boolean => value !== null && value.coef !== 0

/** Inputs that a loss reads beside the batch itself; all [P, G, T]. */
export const lossInputs = (spec: LossSpec): readonly string[] => {
  const needs: [string, boolean][] = [
    ['tokenWeights', true],
    ['factors', spec.policy.kind !== 'none' || spec.crossEntropyCoef !== 0],
    ['oldLogprobs', spec.policy.kind !== 'none' && spec.policy.kind !== 'reinforce'],
    ['advantages', spec.policy.kind !== 'none'],
    ['refLogprobs', spec.kl.kind !== 'none' && spec.kl.coef !== 0],
    ['returns', learnsValues(spec)],
    ['oldValues', learnsValues(spec) && spec.value?.clip != null],
  ]
  return needs.flatMap(([name, needed]) => (needed ? [name] : []))
}

/** The scalar loss of a micro-batch; token weights (aggregation and mask) make micro-batches add up to the batch. */
export const lossGraph = (spec: LossSpec, forward: Forward): Tensor => {
  const read = (name: string) => input(name, SAMPLES)
  const names = new Set(lossInputs(spec))
  const weights = read('tokenWeights')
  const factors = names.has('factors') ? read('factors') : weights
  const old = names.has('oldLogprobs') ? read('oldLogprobs') : null
  const terms: Tensor[] = []
  const push = (coefficient: number, term: Tensor) => {
    if (coefficient !== 0) terms.push(coefficient === 1 ? term : mul(term, coefficient))
  }
  if (names.has('advantages'))
    push(1, mul(policyLoss(spec.policy, forward.logprobs, old, read('advantages'), weights), factors))
  if (names.has('refLogprobs'))
    push(spec.kl.coef, klTerm(spec.kl.kind, forward.logprobs, read('refLogprobs')))
  push(-spec.entropyCoef, forward.entropy)
  push(spec.crossEntropyCoef, neg(mul(forward.logprobs, factors)))
  if (spec.value && learnsValues(spec)) {
    const oldValues = names.has('oldValues') ? read('oldValues') : null
    push(spec.value.coef, valueTerm(forward.values!, read('returns'), oldValues, spec.value.clip))
  }
  const total = terms.length > 0 ? terms.reduce((a, b) => add(a, b)) : mul(forward.logprobs, 0)
  return reduceSum(mul(total, weights))
}

const policyLoss = (
  spec: LossSpec['policy'],
  logprobs: Tensor,
  old: Tensor | null,
  advantages: Tensor,
  weights: Tensor,
): Tensor => {
  if (!old) return neg(mul(advantages, logprobs))
  const low = Math.max(0, 1 - spec.clipLow)
  const high = 1 + spec.clipHigh
  const ratio =
    spec.kind === 'gspo'
      ? sequenceRatio(logprobs, old, weights)
      : exp(clamp(sub(logprobs, old), -LOG_RATIO_CLAMP, LOG_RATIO_CLAMP))
  if (spec.kind === 'cispo') return neg(mul(mul(stopGradient(clamp(ratio, low, high)), advantages), logprobs))
  const loss = maximum(neg(mul(ratio, advantages)), neg(mul(clamp(ratio, low, high), advantages)))
  if (spec.dualClip === null) return loss
  return where(greater(0, advantages), minimum(loss, mul(advantages, -spec.dualClip)), loss)
}

/** exp of the mean log-ratio over a sequence's policy tokens, on every token of it: [P, G, T]. */
const sequenceRatio = (logprobs: Tensor, old: Tensor, weights: Tensor): Tensor => {
  // Within a sequence the token weights are the mask times one number, which cancels.
  const total = reduceSum(mul(sub(logprobs, old), weights), [-1], { keepDims: true })
  const mass = reduceSum(weights, [-1], { keepDims: true })
  const mean = div(total, where(greater(mass, 0), mass, 1))
  return expand(exp(minimum(mean, GSPO_LOG_RATIO_MAX)), weights.shape)
}

/** Estimates of KL(policy || reference) per token (Schulman 2020): k1, k2, k3, and |k1|. */
const klTerm = (kind: LossSpec['kl']['kind'], logprobs: Tensor, reference: Tensor): Tensor => {
  const difference = sub(logprobs, reference)
  if (kind === 'k1') return difference
  if (kind === 'abs') return abs(difference)
  if (kind === 'k2') return mul(square(difference), 0.5)
  const back = clamp(neg(difference), -LOG_RATIO_CLAMP, LOG_RATIO_CLAMP)
  return sub(sub(exp(back), back), 1)
}

const valueTerm = (values: Tensor, returns: Tensor, old: Tensor | null, clip: number | null): Tensor => {
  const plain = square(sub(values, returns))
  if (!old || clip === null) return mul(plain, 0.5)
  const clipped = add(old, clamp(sub(values, old), -clip, clip))
  return mul(maximum(plain, square(sub(clipped, returns))), 0.5)
}
