/** @file Shapes of published models that presets name, from their config.json, so that a plan needs no download. */

import { basename } from 'node:path'
import { loadConfig } from '../../model/checkpoint.ts'
import type { ModelConfig } from '../../model/config.ts'
import { holdsModel } from '../../model/fetch-model.ts'
import { wholeFolder } from '../../model/lora-files.ts'
import { isModel } from '../../model/model-files.ts'
import { modelNameOf, modelPath } from '../../model/model-place.ts'

/** What families have, where one does not say otherwise. */
const USUAL = {
  ...{ headDim: 128, rmsNormEps: 1e-6, ropeTheta: 1_000_000, ropeScaling: null },
  ...{ attentionBias: false, qkNorm: false, initializerRange: 0.02 },
  ...{ bosTokenId: 151_643, eosTokenIds: [151_645] },
}

/** A size of a family: its width, SwiGLU width, layers and heads. */
type Size = readonly [hiddenSize: number, intermediateSize: number, layers: number, heads: number]

const sized = ([hiddenSize, intermediateSize, layers, heads]: Size) => ({
  ...{ hiddenSize, intermediateSize, layers, heads },
})

const qwen25 = (size: Size, kvHeads: number): ModelConfig => {
  const [hiddenSize, , , heads] = size
  const isSmall = hiddenSize < 3000
  return {
    ...{ ...USUAL, family: 'qwen2', maxPositions: 32_768, attentionBias: true },
    ...{ ...sized(size), kvHeads, headDim: hiddenSize / heads },
    ...{ vocabSize: isSmall ? 151_936 : 152_064, tieEmbeddings: isSmall },
  }
}

const qwen3 = (size: Size, tieEmbeddings: boolean): ModelConfig => ({
  ...{ ...USUAL, family: 'qwen3', maxPositions: 40_960, qkNorm: true, vocabSize: 151_936, kvHeads: 8 },
  ...{ ...sized(size), tieEmbeddings },
})

const llama3 = (size: Size, tieEmbeddings: boolean, headDim = 128): ModelConfig => ({
  ...{ ...USUAL, family: 'llama', maxPositions: 131_072, rmsNormEps: 1e-5, ropeTheta: 500_000 },
  ...{ vocabSize: 128_256, kvHeads: 8, bosTokenId: 128_000, eosTokenIds: [128_001] },
  ...{ ...sized(size), headDim, tieEmbeddings },
})

/** Five layers of six look back 512 tokens. */
const gemma3 = (hiddenSize: number, intermediateSize: number, layers: number): ModelConfig => ({
  ...{ ...USUAL, family: 'gemma3_text', maxPositions: 32_768, qkNorm: true, headDim: 256, queryScalar: 256 },
  ...{ vocabSize: 262_144, kvHeads: 1, tieEmbeddings: true, bosTokenId: 2, eosTokenIds: [1] },
  ...sized([hiddenSize, intermediateSize, layers, 4]),
  sliding: {
    ...{ window: 512, ropeTheta: 10_000 },
    layers: Array.from({ length: layers }, (_, i) => (i + 1) % 6 !== 0),
  },
})

const KNOWN_MODELS: Readonly<Record<string, ModelConfig>> = {
  'Qwen2.5-0.5B': qwen25([896, 4864, 24, 14], 2),
  'Qwen2.5-1.5B': qwen25([1536, 8960, 28, 12], 2),
  'Qwen2.5-3B': qwen25([2048, 11_008, 36, 16], 2),
  'Qwen2.5-7B': qwen25([3584, 18_944, 28, 28], 4),
  'Qwen2.5-14B': qwen25([5120, 13_824, 48, 40], 8),
  'Qwen2.5-32B': qwen25([5120, 27_648, 64, 40], 8),
  'Qwen2.5-72B': qwen25([8192, 29_568, 80, 64], 8),
  'Qwen3-0.6B': qwen3([1024, 3072, 28, 16], true),
  'Qwen3-1.7B': qwen3([2048, 6144, 28, 16], true),
  'Qwen3-4B': qwen3([2560, 9728, 36, 32], true),
  'Qwen3-8B': qwen3([4096, 12_288, 36, 32], false),
  'Qwen3-14B': qwen3([5120, 17_408, 40, 40], false),
  'Qwen3-32B': qwen3([5120, 25_600, 64, 64], false),
  'Llama-3.2-1B': llama3([2048, 8192, 16, 32], true, 64),
  'Llama-3.2-3B': llama3([3072, 8192, 28, 24], true),
  'Llama-3.1-8B': llama3([4096, 14_336, 32, 32], false),
  'gemma-3-270m': gemma3(640, 2048, 18),
  'gemma-3-1b': gemma3(1152, 6912, 26),
}

/** Shape of the model in a folder, or of the published one that the folder is named after; null for neither. */
export const knownShape = (path: string): ModelConfig | null => {
  const base = wholeFolder(modelPath(path))
  if (isModel(base)) return loadConfig(base)
  // Models that were trained further have the shape of their base.
  const name = basename(modelNameOf(base)?.repo ?? base)
    .replace(/-GGUF$/i, '')
    .replace(/-(Instruct|Base|it|pt)(-\d{4})?$/, '')
  // A folder may be called `constructor`, which every object has.
  return Object.hasOwn(KNOWN_MODELS, name) ? KNOWN_MODELS[name] : null
}

/** The model as a plan names it, with a word where it is not there yet. */
export const modelPlace = (path: string): string => {
  const place = modelPath(path)
  if (modelNameOf(path) !== null)
    return holdsModel(place) ? `${path} (in the cache)` : `${path} (fetched when it runs)`
  return holdsModel(place, 'config') ? path : `${path} (not there yet: put the model in this folder)`
}
