/** @file The miniature model of the logic task: its shape from the configuration, its tokenizer files. */

import type { ModelConfig } from '../../model/config.ts'
import type { ModelSource } from '../../policy/local/parameters.ts'
import { buildLogicTokenizerConfig, buildLogicTokenizerJson } from '../../tasks/logic/tokenizer-json.ts'
import { LOGIC_TOKENS, LOGIC_VOCABULARY } from '../../tasks/logic/vocabulary.ts'
import type { ModelShape } from '../../train/config.ts'
import { ConfigError } from '../../util/errors.ts'

const roundUp = (value: number, to: number) => Math.ceil(value / to) * to

/** A Llama of the given shape over the logic vocabulary. @throws ConfigError for heads that do not divide the width. */
export const logicModelConfig = (shape: ModelShape): ModelConfig => {
  const { hiddenSize, heads, layers, intermediateSize, maxPositions, tieEmbeddings, initializerRange } = shape
  const headDim = hiddenSize / heads
  if (!Number.isInteger(headDim) || headDim % 2 !== 0)
    throw new ConfigError(
      `model.shape: expected heads that divide hiddenSize into even parts, got ${heads} heads for ${hiddenSize}`,
      { hint: 'change model.shape.heads or model.shape.hiddenSize' },
    )
  return {
    family: 'llama',
    vocabSize: roundUp(LOGIC_VOCABULARY.length, 8),
    hiddenSize,
    intermediateSize: intermediateSize ?? Math.max(16, 16 * Math.round((hiddenSize * 8) / 3 / 16)),
    layers,
    heads,
    kvHeads: heads,
    headDim,
    maxPositions,
    rmsNormEps: 1e-5,
    ropeTheta: 10_000,
    ropeScaling: null,
    tieEmbeddings,
    attentionBias: false,
    qkNorm: false,
    bosTokenId: LOGIC_TOKENS.bos,
    eosTokenIds: [LOGIC_TOKENS.eos],
    initializerRange,
  }
}

/** Fresh weights with the tokenizer files that make the saved checkpoint complete. */
export const freshLogicModel = (shape: ModelShape, seed: number | string): ModelSource => ({
  init: {
    config: logicModelConfig(shape),
    seed,
    embeddingStd: shape.embeddingStd,
    files: {
      'tokenizer.json': `${JSON.stringify(buildLogicTokenizerJson(), null, 1)}\n`,
      'tokenizer_config.json': `${JSON.stringify(buildLogicTokenizerConfig(shape.maxPositions), null, 2)}\n`,
    },
  },
})
