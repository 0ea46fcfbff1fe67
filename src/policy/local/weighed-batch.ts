/** @file A batch with the weight that each of its tokens has in the loss, which all of it decides: its parts can then be learnt from apart. */

import { tokenWeights } from '../../rl/aggregate.ts'
import { checkDatum, type Datum } from '../../rl/datum.ts'
import { batchLoss, type LossSequence } from '../../rl/loss.ts'
import { DataError } from '../../util/errors.ts'
import type { BatchStats, LossOptions, TokenScores } from '../policy.ts'
import { tokenStatistics } from '../token-statistics.ts'

export interface WeighedBatch {
  datums: readonly Datum[]
  /** Of each token of each datum. */
  weights: readonly Float64Array[]
  /** Number of each datum in the batch that it is a part of, by which errors name it. */
  numbers: readonly number[]
}

/** In this process nothing about a batch is unknown. */
export interface LocalBatchStats
  extends Required<Omit<BatchStats, 'logprobs'>>,
    Pick<BatchStats, 'logprobs'> {
  parts: Required<NonNullable<BatchStats['parts']>>
}

/** Per-token results for every sequence of a batch. */
export type LocalScores = TokenScores & { entropies: Float32Array }

/** What the gradient of a batch was taken with, and the pieces that it went through the network in. */
export interface BatchScores {
  scores: LocalScores[]
  microBatches: number
}

/**
 * Weighs the tokens of a whole batch.
 * @throws DataError, ShapeError for datums that cannot be used
 */
export const weighBatch = (
  datums: readonly Datum[],
  { loss: { aggregation }, prompts }: LossOptions,
): WeighedBatch => {
  if (datums.length === 0) throw new DataError('accumulate: expected at least one datum, got none')
  datums.forEach((datum, i) => {
    checkDatum(datum, `datum ${i}`)
  })
  const weights = tokenWeights(
    datums.map(({ mask }) => mask),
    aggregation,
    { prompts },
  )
  return { datums, weights, numbers: datums.map((_, i) => i) }
}

/** Some of a batch's datums, by their place in it. */
export const partOfBatch = (
  { datums, weights, numbers }: WeighedBatch,
  places: readonly number[],
): WeighedBatch => ({
  datums: places.map(place => datums[place]),
  weights: places.map(place => weights[place]),
  numbers: places.map(place => numbers[place]),
})

/** What a whole batch was like. */
export const batchStats = (
  datums: readonly Datum[],
  { scores, microBatches }: BatchScores,
  { loss: spec, prompts, logprobs: wanted }: LossOptions,
): LocalBatchStats => {
  const sequences: LossSequence[] = datums.map((datum, i) => ({ ...pickLoss(datum), ...scores[i] }))
  const { loss, parts, clipFraction } = batchLoss(spec, sequences, { prompts })
  return {
    ...{ loss, parts, clipFraction },
    ...tokenStatistics(sequences),
    entropy: meanEntropy(scores, datums),
    microBatches,
    ...(wanted && { logprobs: scores.map(({ logprobs }) => logprobs) }),
  }
}

const pickLoss = ({ oldLogprobs, refLogprobs, advantages, mask, weights, oldValues, returns }: Datum) => ({
  oldLogprobs,
  ...(refLogprobs && { refLogprobs }),
  advantages,
  mask,
  ...(weights && { weights }),
  ...(oldValues && { oldValues }),
  ...(returns && { returns }),
})

/** Over policy tokens, nats. */
const meanEntropy = (scores: readonly LocalScores[], datums: readonly Datum[]): number => {
  let [sum, count] = [0, 0]
  for (const [i, { mask }] of datums.entries())
    for (let t = 0; t < mask.length; t++) {
      if (mask[t] === 0) continue
      sum += scores[i].entropies[t]
      count++
    }
  return sum / Math.max(count, 1)
}
