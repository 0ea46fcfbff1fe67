/** @file The miniature model of the logic task: its shape from the configuration, its tokenizer files. */

import type { ModelConfig } from '../../model/config.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import { buildLogicTokenizerConfig, buildLogicTokenizerJson } from '../../tasks/logic/tokenizer-json.ts'
import { LOGIC_TOKENS, LOGIC_VOCABULARY } from '../../tasks/logic/vocabulary.ts'
import type { ModelShape } from '../../train/config.ts'
import { miniatureShape } from '../common/miniature.ts'

/** A Llama of the given shape over one of the logic task's vocabularies. @throws ConfigError for heads that do not divide the width. */
export const logicModelConfig = (
  shape: ModelShape,
  vocabulary: readonly string[] = LOGIC_VOCABULARY,
): ModelConfig =>
  miniatureShape(shape, {
    vocabSize: vocabulary.length,
    bosTokenId: LOGIC_TOKENS.bos,
    eosTokenIds: [LOGIC_TOKENS.eos],
  })

/** Fresh weights with the tokenizer files that make the saved checkpoint complete. */
export const freshLogicModel = (
  shape: ModelShape,
  seed: number | string,
  vocabulary: readonly string[] = LOGIC_VOCABULARY,
): ModelSource => ({
  init: {
    config: logicModelConfig(shape, vocabulary),
    seed,
    embeddingStd: shape.embeddingStd,
    files: {
      'tokenizer.json': `${JSON.stringify(buildLogicTokenizerJson(vocabulary), null, 1)}\n`,
      'tokenizer_config.json': `${JSON.stringify(buildLogicTokenizerConfig(shape.maxPositions), null, 2)}\n`,
    },
  },
})
