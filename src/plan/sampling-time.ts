/**
 * @file Seconds of sampling on accelerators: a roofline. Prompts are read at the rate of arithmetic; a step of decoding reads all
 * weights and the caches of its rows, does their arithmetic meanwhile, and has an overhead of its own.
 */

import { cacheBytes, forwardFlop, type ModelSize } from '../recipes/common/model-size.ts'
import type { Assumed } from './assumptions.ts'
import type { GpuSet } from './gpus.ts'

/** Samples that one model draws, in tokens. Means, but for the longest. */
export interface SampleDraw {
  /** Different prompts that are read, and their tokens. */
  prompts: number
  promptTokens: number
  samples: number
  newTokens: number
  longestTokens: number
  /** Read again because a turn came between. */
  rereadTokens?: number
}

/** How a model lies on GPUs. */
export interface Placement {
  /** GPUs that hold one copy together. */
  together: number
  copies: number
  /** Rows that one copy's memory has caches for. */
  rows: number
}

export interface DrawTime {
  seconds: number
  prefill: number
  decode: number
  /** What decoding waits for most. */
  bound: 'weights' | 'cache' | 'arithmetic' | 'overhead'
}

const BYTES = 2
/** Share of a GPU's memory that weights may fill before more GPUs hold them together. */
const WEIGHTS_SHARE = 0.45
/** What is left to run in: graphs, buffers, fragments. */
const USABLE_SHARE = 0.9

/**
 * As few GPUs a copy as the weights need, a power of two.
 * @param heldBytes what else each GPU holds meanwhile
 */
export const placeCopies = (
  size: ModelSize,
  { gpu, count }: GpuSet,
  heldBytes: number,
  tokensARow: number,
): Placement => {
  const weights = BYTES * size.parameters
  let together = 1
  while (together < count && weights / together > WEIGHTS_SHARE * gpu.memory) together *= 2
  together = Math.min(together, count)
  const free = together * (USABLE_SHARE * gpu.memory - heldBytes) - weights
  const rows = Math.floor(free / (cacheBytes(size) * tokensARow))
  return { together, copies: Math.max(1, Math.floor(count / together)), rows: Math.max(0, rows) }
}

/** Seconds of one draw, spread evenly over the copies. Rows beyond what memory holds take their turn as others end. */
export const drawTime = (
  size: ModelSize,
  { gpu }: GpuSet,
  { together, copies, rows }: Placement,
  draw: SampleDraw,
  use: Assumed,
): DrawTime => {
  const own = draw.samples / copies
  const read = (draw.prompts * draw.promptTokens + (draw.rereadTokens ?? 0)) / copies
  const flops = together * gpu.flops
  const bandwidth = together * gpu.bandwidth * use.bandwidthUtilisation
  const prefill = forwardFlop(size, read, draw.promptTokens / 2) / (flops * use.prefillUtilisation)
  const atOnce = Math.max(1, Math.min(own, rows))
  const steps = draw.longestTokens + Math.max(0, own / atOnce - 1) * draw.newTokens
  const context = draw.promptTokens + draw.newTokens / 2
  // A step with few tokens goes through few experts, one with many through all.
  const touched = Math.min(size.parameters, size.active * Math.max(1, atOnce))
  const weights = (steps * BYTES * touched) / bandwidth
  const cache = (own * draw.newTokens * context * cacheBytes(size)) / bandwidth
  const arithmetic = forwardFlop(size, own * draw.newTokens, context) / (flops * use.prefillUtilisation)
  const overhead = (steps * use.stepOverheadMs) / 1000
  const decode = Math.max(weights + cache, arithmetic) + overhead
  const parts = { weights, cache, arithmetic: arithmetic > weights + cache ? arithmetic : 0, overhead }
  const [bound] = Object.entries(parts).reduce((a, b) => (b[1] > a[1] ? b : a))
  return { seconds: prefill + decode, prefill, decode, bound: bound as DrawTime['bound'] }
}
