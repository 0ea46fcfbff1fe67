/** @file Models for the arithmetic task. */

import type { ModelConfig } from '../../model/config.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import {
  ARITHMETIC_TOKENS,
  ARITHMETIC_VOCABULARY,
  arithmeticTokenizer,
} from '../../tasks/arithmetic/index.ts'
import type { ModelShape } from '../../train/config.ts'
import { miniatureShape } from '../common/miniature.ts'

/** A Llama of the given shape over the pieces of arithmetic. @throws ConfigError for heads that do not divide the width. */
export const arithmeticModelConfig = (shape: ModelShape): ModelConfig =>
  miniatureShape(shape, {
    vocabSize: ARITHMETIC_VOCABULARY.length,
    bosTokenId: ARITHMETIC_TOKENS.bos,
    eosTokenIds: [ARITHMETIC_TOKENS.eos],
  })

/** Fresh weights with the tokenizer files that make the saved checkpoint complete. */
export const freshArithmeticModel = (shape: ModelShape, seed: number | string): ModelSource => ({
  init: {
    config: arithmeticModelConfig(shape),
    seed,
    embeddingStd: shape.embeddingStd,
    files: arithmeticTokenizer(shape.maxPositions),
  },
})
