/** @file What the training of a verifier refuses before it starts, and the model that it makes; its plan refuses the same. */

import type { ModelConfig } from '../../model/config.ts'
import { createTokenizer } from '../../model/tokenizer.ts'
import type { ModelShape } from '../../train/config.ts'
import { mean } from '../../util/statistics.ts'
import { miniatureShape } from '../common/miniature.ts'
import { assertSupervisedActions, mayBeMissing, type RunMode } from '../common/refuse.ts'
import type { LearnedVerifierConfig } from './config.ts'
import { type LabelledData, type LabelledRow, readLabels } from './labels.ts'
import {
  END_TOKEN,
  frequentWords,
  START_TOKEN,
  VerifierReader,
  verifierTokenizer,
  vocabularySize,
} from './reading.ts'

const verifierShape = (shape: ModelShape, words: readonly string[]): ModelConfig =>
  miniatureShape(shape, {
    vocabSize: vocabularySize(words),
    bosTokenId: START_TOKEN,
    eosTokenIds: [END_TOKEN],
  })

/** A verifier of the configured shape over the words of the training rows. */
export const verifierModel = (
  { model: { shape }, seed, vocabulary }: LearnedVerifierConfig,
  rows: readonly LabelledRow[],
) => {
  const words = frequentWords(
    rows.flatMap(({ criterion, prompt, response }) => [criterion, prompt, response]),
    vocabulary,
  )
  const config = verifierShape(shape, words)
  const files = verifierTokenizer(words, shape.maxPositions)
  const tokenizer = createTokenizer(
    JSON.parse(files['tokenizer.json']),
    JSON.parse(files['tokenizer_config.json']),
  )
  return {
    source: { init: { config, seed, embeddingStd: shape.embeddingStd, files } },
    reader: new VerifierReader(tokenizer, shape.maxPositions),
  }
}

/** Rows whose lengths are looked at for a plan. */
const LOOKED_AT = 256

/** Shape, and tokens of a row with its verdict: of the rows that are there, else the most that there may be. */
export const verifierSizes = (
  config: LearnedVerifierConfig,
  labels: LabelledData | null,
): { shape: ModelConfig; rowTokens: number; atMost: boolean } => {
  const { model, vocabulary } = config
  if (labels === null) {
    const words = Array.from({ length: vocabulary.size }, (_, i) => `${i}`)
    return { shape: verifierShape(model.shape, words), rowTokens: model.shape.maxPositions, atMost: true }
  }
  const { source, reader } = verifierModel(config, labels.train)
  const lengths = labels.train.slice(0, LOOKED_AT).map(row => reader.read(row).length + 1)
  return { shape: source.init.config, rowTokens: mean(lengths), atMost: false }
}

/**
 * The labelled rows; null in a plan whose file comes later. What a run refuses before it trains is refused here.
 * @throws ConfigError, DataError for a shape, for what monitors cannot do, and for a file that cannot be used
 */
export const checkLearnedVerifier = (
  { model, monitors, data: { file, columns, heldOut } }: LearnedVerifierConfig,
  purpose: RunMode,
): LabelledData | null => {
  assertSupervisedActions({ monitors })
  verifierShape(model.shape, [])
  return mayBeMissing(file, purpose) ? null : readLabels(file, heldOut, columns)
}
