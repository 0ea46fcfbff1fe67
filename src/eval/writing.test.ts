import { describe, expect, it } from 'vitest'
import { countWords, lengthScore, longWriteScore, qualityScore, writingBenchScore } from './writing.ts'

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
  it('is the mean over six aspects from 1 to 5, scaled to 100', () => {
    const aspects = [5, 4, 3, 5, 2, 5]
    const byHand = aspects.reduce((sum, score) => sum + (score - 1) * 25, 0) / 6
    expect(qualityScore(aspects.map(score => (score - 1) / 4))).toBeCloseTo(byHand, 12)
    expect(longWriteScore(90, byHand)).toBeCloseTo((90 + byHand) / 2, 12)
  })

  it('leaves out what got no verdict, and is nothing where nothing did', () => {
    expect(qualityScore([1, null, 0])).toBe(50)
    expect([qualityScore([null]), longWriteScore(100, null), writingBenchScore([])]).toEqual([
      null,
      null,
      null,
    ])
  })

  it('is the mean of the scores from 1 to 10 in WritingBench', () => {
    const scores = [1, 10, 7, 4, 8]
    expect(writingBenchScore(scores.map(score => (score - 1) / 9))).toBeCloseTo(6, 12)
  })
})
