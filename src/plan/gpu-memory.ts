/** @file Bytes that each accelerator holds while it learns and while it samples, with everything sharded over all of them. */

import type { ModelSize } from '../recipes/common/model-size.ts'

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
}

export interface GpuMemoryOptions {
  trainedParameters: number
  adapter: boolean
  reference: boolean
  critic: boolean
  gpus: number
  /** GPUs that hold one copy of the sampler together. */
  together: number
  microBatchTokens: number
  /** Keys and values of one row. */
  rowBytes: number
}

const BYTES = 2
/** Gradient in 16 bits, master weights and two moments in 32. */
const TRAINED_BYTES = 2 + 4 + 4 + 4
/** Numbers of one layer that live at a time while it is recomputed: as in `estimate.ts`, without the attention matrix. */
const LAYER_WIDTHS = 16 + 5 * 3
/** Logits in 32 bits, and their gradient. */
const LOGIT_BYTES = 8
/** They are made for so many tokens at a time. */
const LOGIT_TOKENS = 2048

/** Mixed precision with AdamW as DeepSpeed's ZeRO-3 and PyTorch's FSDP shard it (arXiv 1910.02054, section 3: 16 bytes a parameter). */
export const gpuMemory = (size: ModelSize, options: GpuMemoryOptions): GpuMemory => {
  const { trainedParameters, adapter, reference, critic, gpus, together, microBatchTokens, rowBytes } =
    options
  const models = critic ? 2 : 1
  const copies = models + Number(reference && !adapter)
  const state = (copies * BYTES * size.parameters + models * TRAINED_BYTES * trainedParameters) / gpus
  const layerInputs = size.layers * size.hiddenSize * microBatchTokens * BYTES
  const layer = LAYER_WIDTHS * size.hiddenSize * microBatchTokens * BYTES
  const logits = Math.min(microBatchTokens, LOGIT_TOKENS) * size.vocabSize * LOGIT_BYTES
  const activations = layerInputs + layer + logits
  const sampler = (BYTES * size.parameters) / together
  return {
    ...{ state, activations, sampler },
    learning: state + activations,
    sampling: state + sampler + rowBytes / together,
  }
}
