/** @file Shapes of published models that presets name, from their config.json, so that a plan needs no download. */

import { basename } from 'node:path'
import { loadConfig } from '../../model/checkpoint.ts'
import type { ModelConfig } from '../../model/config.ts'
import { holdsModel } from '../../model/fetch-model.ts'
import { wholeFolder } from '../../model/lora-files.ts'
import { isModel } from '../../model/model-files.ts'
import { modelNameOf, modelPath } from '../../model/model-place.ts'

const QWEN_25 = {
  family: 'qwen2',
  maxPositions: 32_768,
  headDim: 128,
  rmsNormEps: 1e-6,
  ropeTheta: 1_000_000,
  ropeScaling: null,
  attentionBias: true,
  qkNorm: false,
  bosTokenId: 151_643,
  eosTokenIds: [151_645],
  initializerRange: 0.02,
} as const satisfies Partial<Record<keyof ModelConfig, unknown>>

const shared = () => ({ ...QWEN_25, eosTokenIds: [...QWEN_25.eosTokenIds] })

const QWEN_3 = {
  ...QWEN_25,
  family: 'qwen3',
  maxPositions: 40_960,
  headDim: 128,
  attentionBias: false,
  qkNorm: true,
  vocabSize: 151_936,
  layers: 36,
  heads: 32,
  kvHeads: 8,
} as const satisfies Partial<Record<keyof ModelConfig, unknown>>

const qwen3 = () => ({ ...QWEN_3, eosTokenIds: [...QWEN_3.eosTokenIds] })

const LLAMA_3 = {
  ...QWEN_25,
  family: 'llama',
  maxPositions: 131_072,
  rmsNormEps: 1e-5,
  ropeTheta: 500_000,
  attentionBias: false,
  vocabSize: 128_256,
  kvHeads: 8,
  bosTokenId: 128_000,
  eosTokenIds: [128_001],
} as const satisfies Partial<Record<keyof ModelConfig, unknown>>

const llama3 = () => ({ ...LLAMA_3, eosTokenIds: [...LLAMA_3.eosTokenIds] })

const GEMMA_3 = {
  ...QWEN_25,
  family: 'gemma3_text',
  headDim: 256,
  attentionBias: false,
  qkNorm: true,
  vocabSize: 262_144,
  heads: 4,
  kvHeads: 1,
  queryScalar: 256,
  tieEmbeddings: true,
  bosTokenId: 2,
  eosTokenIds: [1],
} as const satisfies Partial<Record<keyof ModelConfig, unknown>>

/** Five layers of six look back 512 tokens. */
const gemma3 = (hiddenSize: number, intermediateSize: number, layers: number): ModelConfig => ({
  ...{ ...GEMMA_3, eosTokenIds: [...GEMMA_3.eosTokenIds] },
  ...{ hiddenSize, intermediateSize, layers },
  sliding: {
    ...{ window: 512, ropeTheta: 10_000 },
    layers: Array.from({ length: layers }, (_, i) => (i + 1) % 6 !== 0),
  },
})

/** Of the Qwen2.5 sizes width, SwiGLU width, layers, heads, key heads. */
const qwen25 = (
  hiddenSize: number,
  intermediateSize: number,
  layers: number,
  heads: number,
  kvHeads: number,
): ModelConfig => ({
  ...shared(),
  ...{ hiddenSize, intermediateSize, layers, heads, kvHeads, headDim: hiddenSize / heads },
  vocabSize: hiddenSize < 3000 ? 151_936 : 152_064,
  tieEmbeddings: hiddenSize < 3000,
})

const KNOWN_MODELS: Readonly<Record<string, ModelConfig>> = {
  'Qwen2.5-0.5B': qwen25(896, 4864, 24, 14, 2),
  'Qwen2.5-1.5B': qwen25(1536, 8960, 28, 12, 2),
  'Qwen2.5-3B': qwen25(2048, 11_008, 36, 16, 2),
  'Qwen2.5-7B': qwen25(3584, 18_944, 28, 28, 4),
  'Qwen2.5-14B': qwen25(5120, 13_824, 48, 40, 8),
  'Qwen2.5-32B': qwen25(5120, 27_648, 64, 40, 8),
  'Qwen2.5-72B': qwen25(8192, 29_568, 80, 64, 8),
  'Qwen3-0.6B': {
    ...qwen3(),
    ...{ hiddenSize: 1024, intermediateSize: 3072, layers: 28, heads: 16, tieEmbeddings: true },
  },
  'Qwen3-1.7B': {
    ...qwen3(),
    ...{ hiddenSize: 2048, intermediateSize: 6144, layers: 28, heads: 16, tieEmbeddings: true },
  },
  'Qwen3-4B': { ...qwen3(), hiddenSize: 2560, intermediateSize: 9728, tieEmbeddings: true },
  'Qwen3-8B': { ...qwen3(), hiddenSize: 4096, intermediateSize: 12_288, tieEmbeddings: false },
  'Qwen3-14B': {
    ...qwen3(),
    ...{ hiddenSize: 5120, intermediateSize: 17_408, layers: 40, heads: 40, tieEmbeddings: false },
  },
  'Qwen3-32B': {
    ...qwen3(),
    ...{ hiddenSize: 5120, intermediateSize: 25_600, layers: 64, heads: 64, tieEmbeddings: false },
  },
  'Llama-3.2-1B': {
    ...llama3(),
    ...{ hiddenSize: 2048, intermediateSize: 8192, layers: 16, heads: 32, headDim: 64, tieEmbeddings: true },
  },
  'Llama-3.2-3B': {
    ...llama3(),
    ...{ hiddenSize: 3072, intermediateSize: 8192, layers: 28, heads: 24, tieEmbeddings: true },
  },
  'Llama-3.1-8B': {
    ...llama3(),
    ...{ hiddenSize: 4096, intermediateSize: 14_336, layers: 32, heads: 32, tieEmbeddings: false },
  },
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
