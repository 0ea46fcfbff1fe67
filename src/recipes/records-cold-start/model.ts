/** @file Fresh models of the records task. */

import type { ModelConfig } from '../../model/config.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import { RECORDS_TOKENS, RECORDS_VOCABULARY, recordsTokenizer } from '../../tasks/records/index.ts'
import type { ModelShape } from '../../train/config.ts'
import { miniatureShape } from '../common/miniature.ts'

/** A Llama of the given shape over the pieces of the task. @throws ConfigError for heads that do not divide the width. */
export const recordsModelConfig = (shape: ModelShape): ModelConfig =>
  miniatureShape(shape, {
    vocabSize: RECORDS_VOCABULARY.length,
    bosTokenId: RECORDS_TOKENS.bos,
    eosTokenIds: [RECORDS_TOKENS.eos],
  })

/** Fresh weights with the tokenizer files that make the saved checkpoint complete. */
export const freshRecordsModel = (shape: ModelShape, seed: number | string): ModelSource => ({
  init: {
    config: recordsModelConfig(shape),
    seed,
    embeddingStd: shape.embeddingStd,
    files: recordsTokenizer(shape.maxPositions),
  },
})
