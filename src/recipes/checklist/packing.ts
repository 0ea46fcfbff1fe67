/** @file Models for the packing task, and what its criteria are called. */

import type { ModelConfig } from '../../model/config.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import { PENALTY } from '../../runs/criterion-words.ts'
import {
  CHECKLIST_TOKENS,
  CHECKLIST_VOCABULARY,
  checklistTokenizer,
  hintsOf,
  type PackingWorld,
  THOUGHT_VOCABULARY,
  type Trip,
  thoughtTokenizer,
  tripName,
  tripPrompt,
} from '../../tasks/checklist/index.ts'
import type { ModelShape } from '../../train/config.ts'
import { miniatureShape } from '../common/miniature.ts'

/** A Llama of the given shape over the words of packing. @throws ConfigError for heads that do not divide the width. */
export const packingModelConfig = (shape: ModelShape): ModelConfig => modelOver(CHECKLIST_VOCABULARY, shape)

/** The same with the words of thinking. */
export const thoughtModelConfig = (shape: ModelShape): ModelConfig => modelOver(THOUGHT_VOCABULARY, shape)

const modelOver = (vocabulary: readonly string[], shape: ModelShape): ModelConfig =>
  miniatureShape(shape, {
    vocabSize: vocabulary.length,
    bosTokenId: CHECKLIST_TOKENS.bos,
    eosTokenIds: [CHECKLIST_TOKENS.eos],
  })

/** Fresh weights with the tokenizer files that make the saved checkpoint complete. @param thinking with the words of thinking */
export const freshPackingModel = (
  shape: ModelShape,
  seed: number | string,
  thinking = false,
): ModelSource => ({
  init: {
    config: thinking ? thoughtModelConfig(shape) : packingModelConfig(shape),
    seed,
    embeddingStd: shape.embeddingStd,
    files: thinking ? thoughtTokenizer(shape.maxPositions) : checklistTokenizer(shape.maxPositions),
  },
})

/**
 * Refuses trips that, shown with their whole rubrics, leave no room for a list.
 * @param maxTokens most tokens of a list
 * @throws DataError as sampling does
 */
export const assertTripsFit = (
  world: PackingWorld,
  trips: readonly Trip[],
  maxTokens: number,
  { maxPositions }: Pick<ModelShape, 'maxPositions'>,
): void => {
  for (const trip of trips)
    assertRoom(
      `trip ${tripName(trip)}`,
      tripPrompt(trip, hintsOf(world.rubric(trip).criteria)).length,
      maxTokens,
      maxPositions,
    )
}

/** Names for reports: a reader has to see which criteria a response had better not meet. */
export const packingCriterionNames = (world: PackingWorld): Record<string, string> => {
  const { criteria } = world.rubric({ topic: 0, occasion: 0, companion: 0 })
  return Object.fromEntries(criteria.filter(({ points }) => points < 0).map(({ id }) => [id, PENALTY]))
}
