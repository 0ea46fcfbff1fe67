/** @file A batch in pieces that each fit into a request. */

import type { WireDatum } from './messages.ts'

/** Most datums, and bytes as JSON, of one request. */
export const MAX_CHUNK_DATUMS = 1024
const MAX_CHUNK_BYTES = 5_000_000
/** Of one token with its target and two numbers, as JSON. */
const BYTES_PER_TOKEN = 60

/** Pieces of a batch that each fit into a request. */
export const chunksOf = (data: readonly WireDatum[]): WireDatum[][] => {
  const chunks: WireDatum[][] = []
  let bytes = 0
  for (const datum of data) {
    const size = datum.tokens.length * BYTES_PER_TOKEN
    const last = chunks.at(-1)
    if (last && last.length < MAX_CHUNK_DATUMS && bytes + size <= MAX_CHUNK_BYTES) {
      last.push(datum)
      bytes += size
    } else {
      chunks.push([datum])
      bytes = size
    }
  }
  return chunks
}
