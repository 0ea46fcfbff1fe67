/** @file Prompts that go through the network a few at a time, because attention needs memory for every pair of their places. */

import type { TensorValue } from '../../tensor/index.ts'
import type { CacheShape } from './cache-room.ts'

/**
 * Scores of attention that one pass computes at most, over all heads: 64 MB, and a few times that while it runs. One prompt may have
 * more. 64 prompts of 512 tokens (8 heads) take 0.7 GB in place of 2.5, and three quarters of the time.
 */
const MOST_SCORES = 2 ** 24

interface Piece {
  start: number
  end: number
}

/** Neighbours that go through together. @param most scores */
export const promptPieces = (lengths: readonly number[], heads: number, most = MOST_SCORES): Piece[] => {
  const pieces: Piece[] = []
  let [start, longest] = [0, 0]
  lengths.forEach((length, i) => {
    longest = Math.max(longest, length)
    if (i === start || (i + 1 - start) * heads * longest ** 2 <= most) return
    pieces.push({ start, end: i })
    ;[start, longest] = [i, length]
  })
  return [...pieces, { start, end: lengths.length }]
}

/** What the pass gave for a piece, whose prompts are padded to `padded`. */
export interface PieceOutputs {
  prompts: number
  padded: number
  values: Record<string, TensorValue>
}

/** What one pass over all prompts, padded to the longest, would have given: logits, keys and values. */
export const joinedOutputs = (
  { layers, kvHeads, headDim }: CacheShape,
  pieces: readonly PieceOutputs[],
): Record<string, TensorValue> => {
  if (pieces.length === 1) return pieces[0].values
  const prompts = pieces.reduce((sum, piece) => sum + piece.prompts, 0)
  const padded = Math.max(...pieces.map(piece => piece.padded))
  const joined = (name: string): TensorValue => {
    const data = new Float32Array(kvHeads * prompts * padded * headDim)
    let first = 0
    for (const { values, ...piece } of pieces) {
      const from = values[name].data as Float32Array
      const block = piece.padded * headDim
      for (let head = 0; head < kvHeads; head++)
        for (let p = 0; p < piece.prompts; p++) {
          const at = (head * piece.prompts + p) * block
          data.set(from.subarray(at, at + block), (head * prompts + first + p) * padded * headDim)
        }
      first += piece.prompts
      // It is there twice as long as it stays here.
      delete values[name]
    }
    return { data, dims: [kvHeads, prompts, padded, headDim] }
  }
  const names = Array.from({ length: layers }, (_, layer) => [`k${layer}`, `v${layer}`]).flat()
  const caches = Object.fromEntries(names.map(name => [name, joined(name)]))
  return { ...caches, logits: joinedRows(pieces.map(({ values }) => values.logits)) }
}

const joinedRows = (parts: readonly TensorValue[]): TensorValue => {
  const width = parts[0].dims[1]
  const rows = parts.reduce((sum, { dims }) => sum + dims[0], 0)
  const data = new Float32Array(rows * width)
  let at = 0
  for (const part of parts) {
    data.set(part.data as Float32Array, at)
    at += part.data.length
  }
  return { data, dims: [rows, width] }
}
