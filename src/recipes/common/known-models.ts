/** @file Shapes of published models that presets name, from their config.json, so that a plan needs no download. */

import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { loadConfig } from '../../model/checkpoint.ts'
import type { ModelConfig } from '../../model/config.ts'
import { resolveShipped } from '../../util/package.ts'

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

const KNOWN_MODELS: Readonly<Record<string, ModelConfig>> = {
  'Qwen2.5-3B-Instruct': {
    ...shared(),
    vocabSize: 151_936,
    hiddenSize: 2048,
    intermediateSize: 11_008,
    layers: 36,
    heads: 16,
    kvHeads: 2,
    tieEmbeddings: true,
  },
  'Qwen2.5-7B-Instruct': {
    ...shared(),
    vocabSize: 152_064,
    hiddenSize: 3584,
    intermediateSize: 18_944,
    layers: 28,
    heads: 28,
    kvHeads: 4,
    tieEmbeddings: false,
  },
  'Qwen3-4B': { ...qwen3(), hiddenSize: 2560, intermediateSize: 9728, tieEmbeddings: true },
  'Qwen3-8B': { ...qwen3(), hiddenSize: 4096, intermediateSize: 12_288, tieEmbeddings: false },
}

/** Shape of the model in a folder, or of the published one that the folder is named after; null for neither. */
export const knownShape = (path: string): ModelConfig | null => {
  const folder = resolveShipped(path)
  if (existsSync(join(folder, 'config.json'))) return loadConfig(folder)
  const name = basename(folder)
  // A folder may be called `constructor`, which every object has.
  return Object.hasOwn(KNOWN_MODELS, name) ? KNOWN_MODELS[name] : null
}

/** The folder as a plan names it, with a word where nothing is there yet. */
export const modelPlace = (path: string): string => {
  const folder = resolveShipped(path)
  const there = ['config.json', 'adapter_config.json'].some(file => existsSync(join(folder, file)))
  return there ? path : `${path} (not there yet: put the model in this folder)`
}
