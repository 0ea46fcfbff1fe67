import { describe, expect, it } from 'vitest'
import { countWords, lengthScore, longWriteScore } from './writing.ts'

describe('the length of a text', () => {
  it('is its words of Latin letters and its Chinese characters', () => {
    expect(countWords("It's 3 o'clock, well-known x_1 and a1b.")).toBe(7) // It s o clock well known and
    expect(countWords('我喜欢 long texts')).toBe(5)
    expect(countWords('naïve café')).toBe(0)
    expect(countWords('')).toBe(0)
  })

  it('is counted in time that grows with it alone', () => {
    expect(countWords('a'.repeat(2_000_000))).toBe(1)
    expect(countWords('_a'.repeat(500_000))).toBe(0)
  })
})

describe('the score of a length', () => {
  it('is by the formula, on both sides of the requirement', () => {
    for (const [x, y, score] of [
      [100, 100, 100],
      [100, 0, 0],
      [100, 50, 50], // 1 - (2 - 1) / 2
      [100, 80, 87.5], // 1 - (1.25 - 1) / 2
      [90, 30, 0], // 1 - (3 - 1) / 2
      [100, 10, 0],
      [100, 250, 50], // 1 - (2.5 - 1) / 3
      [100, 130, 90],
      [100, 400, 0],
      [100, 1000, 0],
    ] as const)
      expect([x, y, lengthScore(x, y)]).toEqual([x, y, expect.closeTo(score, 12)])
  })

  it('needs a requirement', () => {
    expect(() => lengthScore(0, 10)).toThrow('a required length above zero, got 0')
    expect(() => lengthScore(Number.NaN, 10)).toThrow('above zero')
  })
})

describe('the score of what was judged', () => {
  it('is half of it, and nothing where nothing was judged', () => {
    expect(longWriteScore(90, 75)).toBeCloseTo(82.5, 12)
    expect(longWriteScore(100, null)).toBeNull()
  })
})
