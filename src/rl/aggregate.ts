/** @file Loss aggregation as one weight per token, so that loss = sum of weight x token loss however a batch is split. */

import { z } from 'zod'
import { ConfigError } from '../util/errors.ts'

/** Loss masks of a batch: [sequence][token], 1 where the policy generated the token; fractions scale. */
export type Masks = readonly ArrayLike<number>[]

export const AGGREGATION_MODES = [
  'token-mean',
  'token-mean-per-microbatch',
  'sequence-mean',
  'token-sum-per-sequence',
  'seq-mean-token-sum-norm',
  'dr_grpo',
  'token-sum',
  'prompt-mean',
] as const

/**
 * How token losses become one number:
 * - `token-mean`: sum over all tokens / number of tokens of the whole batch (verl `token-mean`, TRL `dapo`)
 * - `token-mean-per-microbatch`: token mean of each micro-batch, then their mean (TRL `bnpo`)
 * - `sequence-mean`: mean over sequences of the mean over tokens (verl `seq-mean-token-mean`, TRL `grpo`)
 * - `token-sum-per-sequence`: mean over sequences of the sum over tokens (verl `seq-mean-token-sum`, RubricEM Eq. 1)
 * - `seq-mean-token-sum-norm`: the same, divided by `scale` (verl since Aug 2026; SkyRL)
 * - `dr_grpo`: sum / (number of sequences x `scale`), `scale` the longest allowed response (TRL `dr_grpo`)
 * - `token-sum`: the plain sum, divided by `scale` if given (Tinker; verl's seq-mean-token-sum-norm of Jan 2026)
 * - `prompt-mean`: mean over prompts of the token mean over the prompt's sequences (SkyRL `prompt_mean`)
 *
 * A sequence without any masked token leaves the sequence means (OpenRLHF), but still counts in `dr_grpo`.
 */
export type AggregationMode = (typeof AGGREGATION_MODES)[number]

/** Other projects' names for the same thing. */
const ALIASES: Record<string, AggregationMode> = {
  token_mean: 'token-mean',
  'seq-mean-token-mean': 'sequence-mean',
  'seq-mean-token-sum': 'token-sum-per-sequence',
  'dr-grpo': 'dr_grpo',
}

export const aggregationSchema = z.strictObject({
  mode: z
    .preprocess(
      mode => (typeof mode === 'string' ? (ALIASES[mode] ?? mode) : mode),
      z.enum(AGGREGATION_MODES),
    )
    .describe('How token losses become one number.'),
  scale: z
    .number()
    .gt(0)
    .nullable()
    .default(null)
    .describe('Divisor of the modes that need one; null: the tokens of the longest allowed response.'),
  microBatch: z
    .int()
    .min(1)
    .optional()
    .describe('Sequences in a micro-batch, for `token-mean-per-microbatch`.'),
})

/** Aggregation as data. */
export type Aggregation = z.output<typeof aggregationSchema>

/** Which prompt each sequence of the batch answers; only `prompt-mean` needs it. */
export interface AggregationContext {
  prompts?: readonly (number | string)[]
}

const tokensOf = (mask: ArrayLike<number>): number => {
  let count = 0
  for (let t = 0; t < mask.length; t++) count += mask[t]
  return count
}

const inverse = (count: number): number => (count > 0 ? 1 / count : 0)

const needScale = ({ mode, scale }: Aggregation): number => {
  if (scale === null)
    throw new ConfigError(
      `aggregation.scale: expected a positive number for ${mode}, got nothing; give the longest allowed response in tokens`,
    )
  return scale
}

/** Weight of each sequence's tokens before the mask; the same for all tokens of a sequence. */
const sequenceWeights = (masks: Masks, spec: Aggregation, context: AggregationContext): number[] => {
  const counts = masks.map(tokensOf)
  const sequences = counts.filter(count => count > 0).length
  const all = (weight: number) => counts.map(() => weight)
  switch (spec.mode) {
    case 'token-mean':
      return all(inverse(counts.reduce((sum, count) => sum + count, 0)))
    case 'sequence-mean':
      return counts.map(count => inverse(count) * inverse(sequences))
    case 'token-sum-per-sequence':
      return all(inverse(sequences))
    case 'seq-mean-token-sum-norm':
      return all(inverse(sequences) / needScale(spec))
    case 'dr_grpo':
      return all(inverse(masks.length) / needScale(spec))
    case 'token-sum':
      return all(1 / (spec.scale ?? 1))
    case 'token-mean-per-microbatch':
      return pooledMeans(counts, microBatchOf(spec, masks.length))
    case 'prompt-mean':
      return pooledMeans(counts, promptsOf(context, masks.length))
  }
}

/** Mean over pools of the token mean within each pool; pools without tokens leave the outer mean. */
const pooledMeans = (counts: readonly number[], pools: readonly (number | string)[]): number[] => {
  const totals = new Map<number | string, number>()
  for (const [i, count] of counts.entries()) totals.set(pools[i], (totals.get(pools[i]) ?? 0) + count)
  const live = [...totals.values()].filter(total => total > 0).length
  return counts.map((_, i) => inverse(totals.get(pools[i])!) * inverse(live))
}

const microBatchOf = ({ microBatch }: Aggregation, sequences: number): number[] => {
  if (microBatch === undefined)
    throw new ConfigError(
      'aggregation.microBatch: expected the number of sequences in a micro-batch, got nothing; token-mean-per-microbatch depends on it',
    )
  return Array.from({ length: sequences }, (_, i) => Math.floor(i / microBatch))
}

const promptsOf = ({ prompts }: AggregationContext, sequences: number) => {
  if (!prompts || prompts.length !== sequences)
    throw new ConfigError(
      `aggregation: prompt-mean: expected the prompt of each of ${sequences} sequences, got ${prompts?.length ?? 'nothing'}; pass prompts`,
    )
  return prompts
}

/**
 * Weight of every token of a whole optimiser batch, mask included: loss = sum over b, t of weights[b][t] x loss[b][t].
 * Weights are computed before the batch is cut into micro-batches, so that gradients accumulate to the loss of the
 * whole batch whatever the micro-batches are.
 * @returns [sequence][token]; 0 outside the mask, all 0 when nothing is masked in
 * @throws ConfigError when the mode lacks its scale, micro-batch or prompts.
 */
export const tokenWeights = (
  masks: Masks,
  spec: Aggregation,
  context: AggregationContext = {},
): Float64Array[] => {
  const perSequence = sequenceWeights(masks, spec, context)
  return masks.map((mask, b) => Float64Array.from(mask, m => m * perSequence[b]))
}

/** sum of weights x losses; a token of weight 0 is left out even where its loss is NaN. */
export const weightedSum = (losses_B_T: readonly ArrayLike<number>[], weights_B_T: Masks): number => {
  let sum = 0
  for (const [b, losses] of losses_B_T.entries())
    for (let t = 0; t < losses.length; t++) if (weights_B_T[b][t] !== 0) sum += weights_B_T[b][t] * losses[t]
  return sum
}

/** The aggregated loss of a batch of token losses [sequence][token]. */
export const aggregateLoss = (
  losses_B_T: readonly ArrayLike<number>[],
  masks: Masks,
  spec: Aggregation,
  context: AggregationContext = {},
): number => weightedSum(losses_B_T, tokenWeights(masks, spec, context))
