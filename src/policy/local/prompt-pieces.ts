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

/** Neighbouring places of the outputs `k<layer>` and `v<layer>`, whose names begin with the prefix. */
interface Places {
  prefix: string
  start: number
  count: number
}

/** What a pass gave for some prompts. */
export interface PieceOutputs {
  /** Logits [prompts, V], and of each layer keys and values [kvHeads, places, headDim]. */
  values: Record<string, TensorValue>
  /** For each row of logits: which prompt it follows, and where the keys and values of its tokens are. */
  rows: readonly { prompt: number; places: readonly Places[] }[]
}

/** What one pass over all prompts, padded to the longest, would have given: logits, keys and values [kvHeads, prompts, padded, headDim]. */
export const joinedOutputs = (
  { layers, kvHeads, headDim }: CacheShape,
  pieces: readonly PieceOutputs[],
  lengths: readonly number[],
): Record<string, TensorValue> => {
  const padded = Math.max(...lengths)
  if (isWhole(pieces, padded, kvHeads * lengths.length * padded * headDim)) return pieces[0].values
  const dims = [kvHeads, lengths.length, padded, headDim]
  const joined = (name: string): TensorValue => {
    const data = new Float32Array(kvHeads * lengths.length * padded * headDim)
    for (const { values, rows } of pieces)
      for (const { prompt, places } of rows) {
        let to = prompt * padded
        for (const { prefix, start, count } of places) {
          const from = values[prefix + name].data as Float32Array
          const width = from.length / kvHeads
          for (let head = 0; head < kvHeads; head++)
            data.set(
              from.subarray(head * width + start * headDim, head * width + (start + count) * headDim),
              (head * lengths.length * padded + to) * headDim,
            )
          to += count
        }
      }
    // It is there twice as long as it stays here.
    for (const { values, rows } of pieces)
      for (const { prefix } of rows[0].places) delete values[prefix + name]
    return { data, dims }
  }
  const names = Array.from({ length: layers }, (_, layer) => [`k${layer}`, `v${layer}`]).flat()
  const caches = Object.fromEntries(names.map(name => [name, joined(name)]))
  return { ...caches, logits: joinedLogits(pieces, lengths.length) }
}

/** Whether one pass gave it all, in order, and nothing else. */
const isWhole = ([{ values, rows }, ...others]: readonly PieceOutputs[], padded: number, size: number) =>
  others.length === 0 &&
  values.k0.data.length === size &&
  rows.every(
    ({ prompt, places }, row) => prompt === row && places.length === 1 && places[0].start === row * padded,
  )

const joinedLogits = (pieces: readonly PieceOutputs[], prompts: number): TensorValue => {
  const [, width] = pieces[0].values.logits.dims
  const data = new Float32Array(prompts * width)
  for (const { values, rows } of pieces)
    rows.forEach(({ prompt }, row) => {
      const logits = values.logits.data as Float32Array
      data.set(logits.subarray(row * width, (row + 1) * width), prompt * width)
    })
  return { data, dims: [prompts, width] }
}
