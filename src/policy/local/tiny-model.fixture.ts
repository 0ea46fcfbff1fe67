/** @file A model small enough for tests, with distributions that are neither flat nor certain. */

import type { ModelConfig } from '../../model/config.ts'
import { createEngine, type Engine, type EngineOptions } from './engine.ts'
import type { ModelSource } from './model-source.ts'

export const TINY: ModelConfig = {
  family: 'llama',
  vocabSize: 17,
  hiddenSize: 16,
  intermediateSize: 24,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 4,
  maxPositions: 64,
  rmsNormEps: 1e-5,
  ropeTheta: 1000,
  ropeScaling: null,
  tieEmbeddings: true,
  attentionBias: false,
  qkNorm: false,
  bosTokenId: 0,
  eosTokenIds: [],
  initializerRange: 0.35,
}

/** An engine of one thread around the tiny model. */
export const tinyEngine = (source: ModelSource = {}, options: EngineOptions = {}): Engine =>
  createEngine(
    { ...(source.folder ? {} : { init: { config: TINY, seed: 1 } }), ...source },
    { threads: 1, ...options },
  )
