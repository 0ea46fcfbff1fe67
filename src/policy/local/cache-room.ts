/** @file What keys and values of running samples take, and how many rows have room for theirs. */

import type { ModelConfig } from '../../model/config.ts'

/** Own places are allocated this many at a time. */
export const BUCKET = 32

/** Up to so many bytes a cache has room from the start for all that its rows may become; above it grows, by copies. */
export const ROOM_BYTES = 2 ** 30

export type CacheShape = Pick<ModelConfig, 'layers' | 'kvHeads' | 'headDim' | 'sliding'>

/** Fewer rows than these together take hardly less time, so that memory is no reason. */
const FEWEST_ROWS = 32

/** Samples are taken to come to so many tokens at most: how long they may be says little of how long they get. */
const USUAL_TOKENS = 256

/**
 * How many rows may be decoded together, so that their cache has room from the start.
 * @param rows that are wanted at most @param samples of a prompt, which share it
 */
export const rowsWithRoom = (
  { layers, kvHeads, headDim }: CacheShape,
  rows: number,
  samples: number,
  promptTokens: number,
  newTokens: number,
): number => {
  const places = Math.min(newTokens, USUAL_TOKENS) + BUCKET + promptTokens / Math.min(samples, rows)
  const most = Math.floor(ROOM_BYTES / (8 * layers * kvHeads * headDim * places))
  return Math.min(rows, Math.max(FEWEST_ROWS, most))
}
