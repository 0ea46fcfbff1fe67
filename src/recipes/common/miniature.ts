/** @file The configuration of a freshly initialised miniature: a Llama of a given shape over a given vocabulary. */

import type { ModelConfig } from '../../model/config.ts'
import type { ModelShape } from '../../train/config.ts'
import { ConfigError } from '../../util/errors.ts'

const roundUp = (value: number, to: number) => Math.ceil(value / to) * to

/** A Llama of the given shape; the vocabulary is padded to a multiple of 8. @throws ConfigError for heads that do not divide the width. */
export const miniatureShape = (
  shape: ModelShape,
  vocabulary: Pick<ModelConfig, 'vocabSize' | 'bosTokenId' | 'eosTokenIds'>,
): ModelConfig => {
  const { hiddenSize, heads, layers, intermediateSize, maxPositions, tieEmbeddings, initializerRange } = shape
  const headDim = hiddenSize / heads
  if (!Number.isInteger(headDim) || headDim % 2 !== 0)
    throw new ConfigError(
      `model.shape: expected heads that divide hiddenSize into even parts, got ${heads} heads for ${hiddenSize}`,
      { hint: 'change model.shape.heads or model.shape.hiddenSize' },
    )
  return {
    family: 'llama',
    ...vocabulary,
    vocabSize: roundUp(vocabulary.vocabSize, 8),
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
    initializerRange,
  }
}
