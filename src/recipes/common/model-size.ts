/** @file What of a model decides what it costs: parameters, operations a token, bytes of its cache. Pure functions. */

import type { ModelConfig } from '../../model/config.ts'
import { modelTensors } from '../../policy/local/weight-sizes.ts'
import { UsageError } from '../../util/errors.ts'
import { knownShape } from './known-models.ts'

/** Counts. `active`: parameters that a token goes through; fewer than all in a mixture of experts. */
export interface ModelSize {
  parameters: number
  active: number
  layers: number
  hiddenSize: number
  /** Width of all query heads, and of all key heads. */
  queryWidth: number
  keyWidth: number
  vocabSize: number
}

export const sizeOf = (shape: ModelConfig): ModelSize => {
  const { total } = modelTensors(shape, null)
  return {
    parameters: total,
    // The embedding of the input is looked up; where it is the output projection too, that is a product.
    active: shape.tieEmbeddings ? total : total - shape.vocabSize * shape.hiddenSize,
    layers: shape.layers,
    hiddenSize: shape.hiddenSize,
    queryWidth: shape.heads * shape.headDim,
    keyWidth: shape.kvHeads * shape.headDim,
    vocabSize: shape.vocabSize,
  }
}

/** Mixtures of experts that judge: config.json and model cards of Qwen. */
const EXPERTS: Readonly<Record<string, ModelSize>> = {
  'Qwen3-30B-A3B': {
    ...{ parameters: 30.5e9, active: 3.3e9, layers: 48, hiddenSize: 2048 },
    ...{ queryWidth: 32 * 128, keyWidth: 4 * 128, vocabSize: 151_936 },
  },
  'Qwen3-235B-A22B': {
    ...{ parameters: 235e9, active: 22e9, layers: 94, hiddenSize: 4096 },
    ...{ queryWidth: 64 * 128, keyWidth: 4 * 128, vocabSize: 151_936 },
  },
}

/** A model by its folder or published name. @throws UsageError for one that is not known */
export const sizeNamed = (name: string, option: string): ModelSize => {
  const base = name.slice(name.lastIndexOf('/') + 1).replace(/-(Instruct|Base)(-\d{4})?$/, '')
  if (Object.hasOwn(EXPERTS, base)) return EXPERTS[base]
  const shape = knownShape(name)
  if (shape !== null) return sizeOf(shape)
  throw new UsageError(`${option}: expected a folder with config.json or a published model, got ${name}`, {
    hint: `known by name are sizes of Qwen2.5, Qwen3, Llama 3, Gemma 3, and ${Object.keys(EXPERTS).join(', ')}`,
  })
}

/** Operations of a forward pass over so many tokens, each of which looks back at `context` others on average. */
export const forwardFlop = (
  { active, layers, queryWidth }: ModelSize,
  tokens: number,
  context: number,
): number => tokens * (2 * active + 4 * layers * queryWidth * context)

/** Keys and values of a token. @param bytes of a number */
export const cacheBytes = ({ layers, keyWidth }: ModelSize, bytes = 2): number =>
  2 * layers * keyWidth * bytes
