import { describe, expect, it } from 'vitest'
import { joinedOutputs, promptPieces } from './prompt-pieces.ts'

describe('prompts that go through together', () => {
  it('have so many scores at most, unless one alone has more', () => {
    const lengths = [9, 5, 5, 5, 2, 1, 1]
    const pieces = promptPieces(lengths, 2, 100)
    expect(pieces).toEqual([
      { start: 0, end: 1 },
      { start: 1, end: 3 },
      { start: 3, end: 5 },
      { start: 5, end: 7 },
    ])
    expect(promptPieces(lengths, 2)).toEqual([{ start: 0, end: 7 }])
    expect(promptPieces([1, 1, 9], 1, 100)).toEqual([
      { start: 0, end: 2 },
      { start: 2, end: 3 },
    ])
  })

  it('give what all of them would have given', () => {
    const shape = { layers: 1, kvHeads: 2, headDim: 1 }
    const value = (data: number[], dims: number[]) => ({ data: Float32Array.from(data), dims })
    const piece = (first: number, lengths: number[], k: number[], v: number[], logits: number[]) => {
      const padded = Math.max(...lengths)
      const dims = [2, lengths.length, padded, 1]
      return {
        values: { k0: value(k, dims), v0: value(v, dims), logits: value(logits, [lengths.length, 2]) },
        rows: lengths.map((count, row) => ({
          prompt: first + row,
          places: [{ prefix: '', start: row * padded, count }],
        })),
      }
    }
    const long = () => piece(0, [3], [1, 2, 3, -1, -2, -3], [4, 5, 6, -4, -5, -6], [0.1, 0.2])
    const short = piece(1, [1, 1], [7, 8, -7, -8], [9, 10, -9, -10], [0.3, 0.4, 0.5, 0.6])
    expect(joinedOutputs(shape, [long()], [3])).toEqual(long().values)
    expect(joinedOutputs(shape, [long(), short], [3, 1, 1])).toEqual({
      k0: value([1, 2, 3, 7, 0, 0, 8, 0, 0, -1, -2, -3, -7, 0, 0, -8, 0, 0], [2, 3, 3, 1]),
      v0: value([4, 5, 6, 9, 0, 0, 10, 0, 0, -4, -5, -6, -9, 0, 0, -10, 0, 0], [2, 3, 3, 1]),
      logits: value([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [3, 2]),
    })
  })

  it('give the same where what two begin with was computed once', () => {
    const shape = { layers: 1, kvHeads: 2, headDim: 1 }
    const value = (data: number[], dims: number[]) => ({ data: Float32Array.from(data), dims })
    const beginning = { prefix: 'prompt.', start: 0, count: 2 }
    const values = {
      ...{ 'prompt.k0': value([1, 2, -1, -2], [2, 2, 1]), 'prompt.v0': value([3, 4, -3, -4], [2, 2, 1]) },
      // Of the first row a place, of the second two.
      ...{
        k0: value([5, 0, 6, 7, -5, 0, -6, -7], [2, 4, 1]),
        v0: value([8, 0, 9, 1, -8, 0, -9, -1], [2, 4, 1]),
      },
      logits: value([0.1, 0.2], [2, 1]),
    }
    const rows = [
      { prompt: 1, places: [beginning, { prefix: '', start: 0, count: 1 }] },
      { prompt: 0, places: [beginning, { prefix: '', start: 2, count: 2 }] },
    ]
    expect(joinedOutputs(shape, [{ values, rows }], [4, 3])).toEqual({
      k0: value([1, 2, 6, 7, 1, 2, 5, 0, -1, -2, -6, -7, -1, -2, -5, 0], [2, 2, 4, 1]),
      v0: value([3, 4, 9, 1, 3, 4, 8, 0, -3, -4, -9, -1, -3, -4, -8, 0], [2, 2, 4, 1]),
      logits: value([0.2, 0.1], [2, 1]),
    })
    // In order and at their places, but with an empty one behind them.
    const padded = {
      values: {
        k0: value([1, 2, 0, 3, 4, 0], [2, 3, 1]),
        v0: value([5, 6, 0, 7, 8, 0], [2, 3, 1]),
        logits: value([1, 2], [2, 1]),
      },
      rows: [0, 1].map(prompt => ({ prompt, places: [{ prefix: '', start: prompt, count: 1 }] })),
    }
    expect(joinedOutputs(shape, [padded], [1, 1]).k0.data).toEqual(Float32Array.of(1, 2, 3, 4))
  })
})
