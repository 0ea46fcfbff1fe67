/** @file Bytes that each accelerator holds while it learns and while it samples, with everything sharded over all of them. */

import { modelTensors } from '../policy/local/weight-sizes.ts'
import { cacheBytes, type ModelSize } from '../recipes/common/model-size.ts'
import type { StepWork } from '../recipes/common/step-work.ts'
import type { GpuSet } from './gpus.ts'

export interface GpuMemory {
  /** Weights in 16 bits, and of what is trained gradient, master weights and two moments; the reference and a critic too. */
  state: number
  /** Of a micro-batch, recomputed layer by layer. */
  activations: number
  /** Weights of the sampler's copy. */
  sampler: number
  /** Most while learning, and while sampling with caches for one row at least. */
  learning: number
  sampling: number
  /** What a GPU has, and whether that is enough. */
  perGpu: number
  fits: boolean
}

const BYTES = 2
/** Gradient in 16 bits, master weights and two moments in 32. */
const TRAINED_BYTES = 2 + 4 + 4 + 4
/** Numbers of one layer that live at a time while it is recomputed: as in `feasible.ts`, without the attention matrix. */
const LAYER_WIDTHS = 16 + 5 * 3
/** Logits in 32 bits, and their gradient. */
const LOGIT_BYTES = 8
/** They are made for so many tokens at a time. */
const LOGIT_TOKENS = 2048

/**
 * Mixed precision with AdamW as DeepSpeed's ZeRO-3 and PyTorch's FSDP shard it (arXiv 1910.02054, section 3: 16 bytes a parameter).
 * @param together GPUs that hold one copy of the sampler together
 * @param microBatch tokens of a micro-batch; one sequence of the longest, or 16,384, whichever is more, where nobody says
 */
export const gpuMemory = (
  size: ModelSize,
  { shape, lora, reference, critic, supervised, roles }: StepWork,
  { gpu, count }: GpuSet,
  together: number,
  microBatch?: number,
): GpuMemory => {
  const longest = Math.max(...roles.map(({ promptTokens, newTokens }) => promptTokens + newTokens))
  const microBatchTokens = microBatch ?? Math.max(longest, 16_384)
  const models = critic ? 2 : 1
  const copies = models + Number(reference && lora === null)
  const { trained } = modelTensors(shape!, lora)
  const state = (copies * BYTES * size.parameters + models * TRAINED_BYTES * trained) / count
  const layerInputs = size.layers * size.hiddenSize * microBatchTokens * BYTES
  const layer = LAYER_WIDTHS * size.hiddenSize * microBatchTokens * BYTES
  const logits = Math.min(microBatchTokens, LOGIT_TOKENS) * size.vocabSize * LOGIT_BYTES
  const activations = layerInputs + layer + logits
  const sampler = (BYTES * size.parameters) / together
  const learning = state + activations
  // With keys and values of one row.
  const sampling = state + sampler + (cacheBytes(size) * longest) / together
  const fits = Math.max(learning, supervised ? 0 : sampling) <= 0.9 * gpu.memory
  return { state, activations, sampler, learning, sampling, perGpu: gpu.memory, fits }
}
