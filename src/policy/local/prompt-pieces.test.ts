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
    const piece = (prompts: number, padded: number, k: number[], v: number[], logits: number[]) => ({
      ...{ prompts, padded },
      values: {
        k0: value(k, [2, prompts, padded, 1]),
        v0: value(v, [2, prompts, padded, 1]),
        logits: value(logits, [prompts, 2]),
      },
    })
    const long = () => piece(1, 3, [1, 2, 3, -1, -2, -3], [4, 5, 6, -4, -5, -6], [0.1, 0.2])
    const short = piece(2, 1, [7, 8, -7, -8], [9, 10, -9, -10], [0.3, 0.4, 0.5, 0.6])
    expect(joinedOutputs(shape, [long()])).toEqual(long().values)
    expect(joinedOutputs(shape, [long(), short])).toEqual({
      k0: value([1, 2, 3, 7, 0, 0, 8, 0, 0, -1, -2, -3, -7, 0, 0, -8, 0, 0], [2, 3, 3, 1]),
      v0: value([4, 5, 6, 9, 0, 0, 10, 0, 0, -4, -5, -6, -9, 0, 0, -10, 0, 0], [2, 3, 3, 1]),
      logits: value([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [3, 2]),
    })
  })
})
