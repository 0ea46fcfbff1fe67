import { describe, expect, it } from 'vitest'
import { trimmedMean } from './intervals.ts'
import { Rng } from './rng.ts'
import { studentCdf, studentQuantile } from './special.ts'
import { mean } from './statistics.ts'

describe('the trimmed mean', () => {
  it('is the mean of the six in the middle of ten, with the interval of Tukey and McLaughlin', () => {
    const { estimate, interval } = trimmedMean([9, 1, 2, 3, 4, 5, 6, 7, 8, 1000])
    expect(estimate).toBe(5.5)
    // Winsorised: 3 three times, 4, 5, 6, 7, 8 three times; squared deviations 42.5 in all, over 6 x 5.
    expect(interval![1] - estimate).toBeCloseTo(2.5706 * Math.sqrt(42.5 / 30), 3)
    expect(estimate - interval![0]).toBeCloseTo(interval![1] - estimate, 12)
  })

  it('hardly moves where one of ten collapses, and the mean does', () => {
    const values = [0.01, 0.02, 0.015, 0.012, 0.018, 0.011, 0.016, 0.014, 0.013]
    const [sound, collapsed] = [
      [...values, 0.015],
      [...values, -0.5],
    ]
    expect(Math.abs(trimmedMean(sound).estimate - trimmedMean(collapsed).estimate)).toBeLessThan(0.002)
    expect(trimmedMean(collapsed).interval![0]).toBeGreaterThan(0)
    expect(mean(collapsed)).toBeLessThan(0)
  })

  it('has no interval of one value', () => {
    expect(trimmedMean([3])).toEqual({ estimate: 3, interval: null })
    expect(trimmedMean([3, 3, 3]).interval).toEqual([3, 3])
  })

  it('has intervals that hold the centre of symmetric noise as often as they say, with heavy tails too', () => {
    const rng = new Rng('trimmed')
    const noises = [() => rng.normal(), () => rng.normal() / Math.max(0.05, Math.abs(rng.normal()))]
    for (const noise of noises) {
      const hits = Array.from({ length: 800 }, () => {
        const [low, high] = trimmedMean(Array.from({ length: 10 }, noise)).interval!
        return low <= 0 && 0 <= high
      }).filter(Boolean).length
      expect(hits / 800).toBeGreaterThan(0.925)
      expect(hits / 800).toBeLessThan(0.985)
    }
  })
})

describe("Student's t", () => {
  it.each([
    [0.975, 1, 12.7062],
    [0.975, 5, 2.5706],
    [0.975, 9, 2.2622],
    [0.95, 9, 1.8331],
    [0.995, 30, 2.75],
  ])('has the tabulated quantile %d of %d degrees of freedom', (p, df, t) => {
    expect(studentQuantile(p, df)).toBeCloseTo(t, 3)
    expect(studentCdf(t, df)).toBeCloseTo(p, 5)
    expect(studentQuantile(1 - p, df)).toBeCloseTo(-t, 3)
  })
})
