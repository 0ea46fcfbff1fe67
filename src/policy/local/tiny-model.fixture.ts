/** @file A model small enough for tests, with distributions that are neither flat nor certain. */

import type { ModelConfig } from '../../model/config.ts'
import { TEST_PROVIDER } from '../../tensor/provider.fixture.ts'
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

/** A window of a few tokens, so that short sequences go beyond it. */
export const GEMMA: ModelConfig = {
  ...TINY,
  ...{ family: 'gemma3_text', qkNorm: true, headDim: 6, queryScalar: 5 },
  sliding: { window: 3, ropeTheta: 10, layers: [true, false] },
}

/** Copies of what is accumulated, a tensor each, wherever it is. */
export const gradientsOf = async ({ parameters }: Engine): Promise<Float32Array[]> => {
  await parameters.gradient.pull()
  return parameters.trained.map(({ grad }) => grad.view.slice())
}

/** Copies of the trained weights. */
export const weightsOf = async ({ parameters }: Engine): Promise<Float32Array[]> => {
  await parameters.pull()
  return parameters.trained.map(({ param }) => param.view.slice())
}

/** One thread, on the provider that `GRADUS_TEST_PROVIDER` names. */
export const ENGINE: EngineOptions = { threads: 1, provider: TEST_PROVIDER }

/**
 * For what is compared bit for bit over several updates: a GPU adds up the rows of an embedding's gradient in whatever order they
 * come.
 */
export const SAME_BITS: EngineOptions = { threads: 1, provider: 'cpu' }

/** An engine of one thread around the tiny model, on the provider that `GRADUS_TEST_PROVIDER` names. */
export const tinyEngine = (source: ModelSource = {}, options: EngineOptions = {}): Engine =>
  createEngine(
    { ...(source.folder ? {} : { init: { config: TINY, seed: 1 } }), ...source },
    { ...ENGINE, ...options },
  )
