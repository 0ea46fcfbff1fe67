/** @file Memory that a run will need, estimated before anything is allocated. Orders of magnitude, not promises. */

import type { ModelConfig } from '../model/config.ts'
import type { LoraConfig } from '../model/lora-files.ts'
import { modelTensors } from '../policy/local/parameters.ts'

/** Bytes by what they hold. */
export interface MemoryEstimate {
  /** Weights as float32, and the copy that the sampler's graph holds. */
  weights: number
  /** Gradient and two moments of what is trained, and the frozen copy for the KL term. */
  optimizer: number
  /** Saved for the backward pass of one micro-batch. */
  activations: number
  /** Keys and values of the rows that are decoded together; the prompt's are shared by a group. */
  cache: number
  total: number
}

export interface EstimateOptions {
  lora: LoraConfig | null
  /** A frozen reference besides the weights; an adapter has its base for that. */
  reference: boolean
  /** Padded tokens in a training graph at a time, and the longest sequence. */
  microBatchTokens: number
  sequence: number
  /** Rows decoded together, and prompts among them. */
  rows: number
  prompts: number
  promptTokens: number
  newTokens: number
}

const FLOAT = 4

/**
 * Floats kept for one token of one layer: inputs of the projections, q, k, v and their gradients (about 16 widths), the
 * SwiGLU branches (about 5), and two attention matrices.
 */
const activationFloats = (
  { hiddenSize, intermediateSize, heads, layers }: ModelConfig,
  sequence: number,
): number => layers * (16 * hiddenSize + 5 * intermediateSize + 2 * heads * sequence)

/** The vocabulary is scored in chunks: this many logits a token at a time at most. */
const LOGIT_CHUNK = 8192

/** Estimates memory in bytes for sampling and training one model. */
export const estimateMemory = (config: ModelConfig, options: EstimateOptions): MemoryEstimate => {
  const { total, trained } = modelTensors(config, options.lora, false)
  const weights = 2 * total * FLOAT
  const copies = 3 + Number(options.reference && options.lora === null)
  const optimizer = copies * trained * FLOAT
  const perToken = activationFloats(config, options.sequence) + 3 * Math.min(config.vocabSize, LOGIT_CHUNK)
  // A sequence longer than a micro-batch still goes through whole.
  const activations = perToken * Math.max(options.microBatchTokens, options.sequence) * FLOAT
  const places = options.prompts * options.promptTokens + options.rows * options.newTokens
  const cache = 2 * config.layers * config.kvHeads * config.headDim * places * FLOAT
  return { weights, optimizer, activations, cache, total: weights + optimizer + activations + cache }
}

/** Memory of supervised learning: what is sampled is only evaluated. */
export const coldStartMemory = (
  config: ModelConfig,
  engine: { microBatchTokens: number; maxRows: number },
): MemoryEstimate =>
  estimateMemory(config, {
    lora: null,
    reference: false,
    microBatchTokens: engine.microBatchTokens,
    sequence: config.maxPositions,
    rows: engine.maxRows,
    prompts: engine.maxRows,
    promptTokens: config.maxPositions / 2,
    newTokens: config.maxPositions / 2,
  })

/** `3.1 billion`, `850 thousand`. */
export const formatCount = (count: number): string => {
  const units = [
    [1e9, 'billion'],
    [1e6, 'million'],
    [1e3, 'thousand'],
  ] as const
  const unit = units.find(([size]) => count >= size)
  return unit ? `${(count / unit[0]).toPrecision(3)} ${unit[1]}` : String(count)
}

/** `1.5 GB`, `320 MB`. */
export const formatBytes = (bytes: number): string =>
  bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.max(1, Math.round(bytes / 1e6))} MB`

export const memoryLines = (memory: MemoryEstimate): string[] => [
  `memory       about ${formatBytes(memory.total)}: weights ${formatBytes(memory.weights)}, optimiser ${formatBytes(memory.optimizer)}, activations ${formatBytes(memory.activations)}, cache ${formatBytes(memory.cache)}`,
]
