import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { roundHalfToEven } from './descriptive.ts'
import { Rng } from './rng.ts'
import {
  bootstrapInterval,
  holm,
  largestOf,
  logChoose,
  logGamma,
  mcNemarExact,
  mean,
  median,
  normalCdf,
  normalQuantile,
  pairedBootstrapInterval,
  pearson,
  quantile,
  signFlipTest,
  std,
  twoWayBootstrapInterval,
  variance,
  wilsonInterval,
} from './statistics.ts'

describe('largestOf', () => {
  it('takes as many as a data set has', () => {
    expect(largestOf(Array.from({ length: 300_000 }, (_, i) => 5 - i))).toBe(5)
    expect(largestOf([1, Number.NaN], 7)).toBe(7)
    expect(largestOf([])).toBe(Number.NEGATIVE_INFINITY)
  })
})

describe('roundHalfToEven', () => {
  it('sends halves to the even neighbour', () => {
    expect([0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5].map(roundHalfToEven)).toEqual([0, 2, 2, 4, 0, -2, -2])
  })

  it('rounds everything else to the nearest integer', () => {
    expect([2.4999, 2.5001, -2.6, 7, 1e15 + 1].map(roundHalfToEven)).toEqual([2, 3, -3, 7, 1e15 + 1])
    expect(roundHalfToEven(Number.NaN)).toBeNaN()
    expect(roundHalfToEven(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY)
  })

  it('gives the counts of shown criteria', () => {
    const show = (criteria: number) =>
      Array.from({ length: 8 }, (_, i) => roundHalfToEven(((7 - i) / 7) * criteria))
    expect(show(11)).toEqual([11, 9, 8, 6, 5, 3, 2, 0])
    expect(show(5)).toEqual([5, 4, 4, 3, 2, 1, 1, 0])
  })
})

describe('descriptive statistics', () => {
  it('has both conventions of the standard deviation', () => {
    expect(mean([1, 2, 3, 4])).toBe(2.5)
    expect(variance([1, 2, 3, 4])).toBe(1.25)
    expect(std([1, 2, 3, 4], 1)).toBeCloseTo(1.2909944487358056, 14)
    expect(std([5], 1)).toBeNaN()
  })

  it('interpolates quantiles as numpy does', () => {
    expect(quantile([4, 1, 3, 2], 0.25)).toBe(1.75)
    expect(median([3, 1, 2])).toBe(2)
    expect(() => quantile([], 0.5)).toThrow('at least one value')
    expect(() => quantile([1], 50)).toThrow('share, not a percentage')
  })

  it('computes worked correlations and is undefined without variance', () => {
    const right = [1, 1, 1, 0, 0, 0, 1, 0]
    expect(pearson([1, 1, 0, 0, 0, 0, 1, 0], right)).toBeCloseTo(0.7746, 4)
    expect(pearson([0, 0, 0, 1, 1, 0, 0, 0], right)).toBeCloseTo(-0.5774, 4)
    expect(pearson([0, 1, 0, 1, 0, 1, 0, 1], right)).toBeCloseTo(-0.5, 12)
    expect(pearson([1, 1, 1, 1, 1, 1, 1, 1], right)).toBeNull()
    expect(pearson([0.1, 0.1, 0.1], [0.1, 0.1, 0.1])).toBeNull()
    expect(pearson([1e-9, 2e-9, 4e-9], [1, 2, 4])).toBeCloseTo(1, 12)
    expect(() => pearson([1], [1, 2])).toThrow('one length')
  })
})

describe('special functions', () => {
  it('agree with tables', () => {
    expect(logGamma(0.5)).toBeCloseTo(0.5 * Math.log(Math.PI), 13)
    expect(logGamma(10)).toBeCloseTo(Math.log(362880), 12)
    expect(Math.exp(logChoose(52, 5))).toBeCloseTo(2598960, 4)
    expect(normalCdf(1)).toBeCloseTo(0.8413447460685429, 14)
    expect(normalCdf(-5) / 2.866515718791939e-7).toBeCloseTo(1, 10)
    expect(normalQuantile(0.975)).toBeCloseTo(1.959963984540054, 11)
    expect(normalQuantile(0.8)).toBeCloseTo(0.8416212335729143, 11)
  })

  it('refuse what has no answer', () => {
    expect(() => logGamma(0)).toThrow('positive')
    expect(() => normalQuantile(1)).toThrow('(0, 1)')
    expect(logChoose(3, 4)).toBe(Number.NEGATIVE_INFINITY)
  })

  it('invert each other', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1 - 1e-9, noNaN: true }), p => {
        expect(normalCdf(normalQuantile(p))).toBeCloseTo(p, 11)
      }),
    )
  })
})

describe('intervals', () => {
  it('are the same for the same seed and differ for another', () => {
    const values = [0.13, 1.7, 1.1, 0.2, 0.91, 0.57, 0.34]
    const options = { resamples: 500, seed: 3 }
    expect(bootstrapInterval(values, options)).toEqual(bootstrapInterval(values, options))
    expect(bootstrapInterval(values, options)).not.toEqual(
      bootstrapInterval(values, { resamples: 500, seed: 4 }),
    )
  })

  it('come near the normal interval for many values', () => {
    const rng = new Rng(7)
    const values = Array.from({ length: 400 }, () => rng.normal())
    const interval = bootstrapInterval(values, { resamples: 2000 })
    const half = (1.96 * std(values, 1)) / 20
    expect(Math.abs(interval.high - (mean(values) + half))).toBeLessThan(0.02)
    expect(Math.abs(interval.low - (mean(values) - half))).toBeLessThan(0.02)
  })

  it('resample whole problems: repeating samples adds no certainty', () => {
    const treated = [[1], [0], [1], [1], [0], [1]]
    const control = [[0], [0], [1], [0], [0], [1]]
    const repeat = (rows: number[][]) => rows.map(row => Array.from({ length: 50 }, () => row[0]))
    const once = pairedBootstrapInterval(treated, control, { resamples: 1000 })
    const often = pairedBootstrapInterval(repeat(treated), repeat(control), { resamples: 1000 })
    expect(often).toEqual(once)
    expect(once.estimate).toBeCloseTo(1 / 3, 12)
  })

  it('pair: a constant shift has a degenerate interval', () => {
    const control = [[0.1, 0.3], [0.9], [0.5]]
    const treated = control.map(row => row.map(x => x + 0.25))
    const interval = pairedBootstrapInterval(treated, control, { resamples: 200 })
    expect(interval.low).toBeCloseTo(0.25, 12)
    expect(interval.high).toBeCloseTo(0.25, 12)
  })

  it('refuse unpaired or empty data', () => {
    expect(() => pairedBootstrapInterval([[1]], [[1], [2]])).toThrow('same problems')
    expect(() => pairedBootstrapInterval([[1]], [[]])).toThrow('problem 0')
    expect(() => bootstrapInterval([])).toThrow('at least one value')
    expect(() => bootstrapInterval([1], {}, () => null)).toThrow('is defined')
    expect(() => twoWayBootstrapInterval([])).toThrow('at least one value')
    expect(() => twoWayBootstrapInterval([[1, 2], [1]])).toThrow('same items')
  })

  it('widen with variance between seeds', () => {
    const items = Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? 0.1 : -0.1))
    const same = twoWayBootstrapInterval([items, items, items], { resamples: 500 })
    const apart = twoWayBootstrapInterval(
      [-0.5, 0, 0.5].map(shift => items.map(x => x + shift)),
      { resamples: 500 },
    )
    expect(apart.high - apart.low).toBeGreaterThan(3 * (same.high - same.low))
    expect(same.estimate).toBeCloseTo(0, 12)
  })

  it("give Wilson's interval", () => {
    const { low, high, estimate } = wilsonInterval(8, 10)
    expect(estimate).toBe(0.8)
    expect(low).toBeCloseTo(0.490162, 5)
    expect(high).toBeCloseTo(0.943318, 5)
    expect(wilsonInterval(0, 10).low).toBe(0)
    expect(wilsonInterval(10, 10).high).toBe(1)
    expect(() => wilsonInterval(11, 10)).toThrow('successes')
  })
})

describe('tests and power', () => {
  it('enumerates sign flips exactly for few pairs', () => {
    expect(signFlipTest([1, 2, 3, 4, 5])).toBe(2 / 32)
    expect(signFlipTest([1, 2, 3, 4, 5], { alternative: 'greater' })).toBe(1 / 32)
    expect(signFlipTest([1, 2, 3, 4, 5], { alternative: 'less' })).toBe(1)
    expect(signFlipTest([0, 0, 0])).toBe(1)
    expect(() => signFlipTest([])).toThrow('at least one')
    expect(() => signFlipTest([Number.NaN, 1, 2])).toThrow('got NaN')
  })

  it('samples sign flips for many pairs, near the normal answer and reproducibly', () => {
    const differences = Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? -1 : 1))
    const z = 12 / Math.sqrt(40)
    const p = signFlipTest(differences, { draws: 20_000, seed: 1 })
    // The sum moves in steps of 2, so the normal answer takes a continuity correction of 1.
    expect(p).toBeCloseTo(2 * normalCdf(-(z - 1 / Math.sqrt(40))), 1)
    expect(signFlipTest(differences, { draws: 20_000, seed: 1 })).toBe(p)
  })

  it("computes McNemar's exact test", () => {
    expect(mcNemarExact(5, 15)).toBeCloseTo((2 * 21700) / 1048576, 12)
    expect(mcNemarExact(0, 0)).toBe(1)
    expect(mcNemarExact(4, 4)).toBe(1)
  })

  it("adjusts as R's p.adjust(method = 'holm')", () => {
    const adjusted = holm([0.01, 0.04, 0.03, 0.005])
    for (const [i, expected] of [0.03, 0.06, 0.06, 0.02].entries())
      expect(adjusted[i]).toBeCloseTo(expected, 12)
    expect(holm([0.9, 0.8])).toEqual([1, 1])
    expect(holm([])).toEqual([])
  })
})
