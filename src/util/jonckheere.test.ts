import { describe, expect, it } from 'vitest'
import { DataError } from './errors.ts'
import { jonckheere, trendTest } from './jonckheere.ts'
import { normalCdf } from './special.ts'

// Hollander and Wolfe, "Nonparametric Statistical Methods", example 6.2: pieces that workers finished without, with rough and
// with accurate knowledge of their performance. J = 79, mean 54, J* = 2.02 without and 2.04 with ties.
const WORKERS = [
  [40, 35, 38, 43, 44, 41],
  [38, 40, 47, 44, 40, 42],
  [48, 40, 45, 43, 46, 44],
]

describe('jonckheere', () => {
  it('gives the values of the textbook, ties in the variance', () => {
    const found = jonckheere([WORKERS])
    expect(found.statistic).toBe(79)
    expect(found.expected).toBe(54)
    // (18*17*41 - 3*6*5*17 - (4*3*13 + 3*2*11 + 2*2*1*9)) / 72 + 360*30/(36*18*17*16) + 90*22/(8*18*17)
    const byHand = (12546 - 1530 - 258) / 72 + (360 * 30) / (36 * 4896) + (90 * 22) / (8 * 306)
    expect(found.variance).toBeCloseTo(byHand, 10)
    expect(found.variance).toBeCloseTo(150.2868, 4)
    expect(found.z).toBeCloseTo(2.0393, 4)
    expect(2 * normalCdf(-Math.abs(found.z))).toBeCloseTo(0.0414, 3)
  })

  it('has the plain variance without ties, and none where all values are equal', () => {
    const found = jonckheere([
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
    ])
    // (N^2 (2N + 3) - sum n^2 (2n + 3)) / 72 = (36*15 - 3*4*7) / 72
    expect(found).toMatchObject({ statistic: 12, expected: 6 })
    expect(found.variance).toBeCloseTo(456 / 72, 12)
    const level = jonckheere([
      [
        [1, 1],
        [1, 1],
      ],
    ])
    expect(level).toEqual({ statistic: 2, expected: 2, variance: 0, z: 0 })
  })

  it('adds strata up, and compares nothing across them', () => {
    // The second stratum lies far below the first; both rise.
    const found = jonckheere([
      [[10], [11], [12]],
      [[1], [2], [3]],
    ])
    expect(found).toMatchObject({ statistic: 6, expected: 3 })
  })

  it('refuses one group, and what is not finite', () => {
    expect(() => jonckheere([[[1, 2]]])).toThrow(DataError)
    expect(() => jonckheere([[[1], [Number.NaN]]])).toThrow('expected finite values')
  })
})

describe('trendTest', () => {
  const block = (values: number[], stratum = 's') => ({ stratum, values })

  it('is exact for few arrangements: one of 3!^3 in the full order', () => {
    const found = trendTest([block([1, 5, 9]), block([2, 6, 10]), block([3, 7, 11])])
    expect(found.exact).toBe(true)
    expect(found.pRising).toBe(1 / 216)
    expect(found.p).toBe(2 / 216)
    expect(found.pFalling).toBe(1)
    const falling = trendTest([block([9, 5, 1]), block([10, 6, 2]), block([11, 7, 3])])
    expect(falling.pFalling).toBe(1 / 216)
  })

  it('is a test of one pair of groups as well', () => {
    // Two groups in a block: sign patterns. All of five the same way: 1 of 32.
    const found = trendTest([1, 2, 3, 4, 5].map(base => block([base, base + 10])))
    expect(found.pRising).toBe(1 / 32)
  })

  it('does not take differences between blocks for a trend', () => {
    // Blocks far apart, no trend within them on average.
    const blocks = [0, 100, 200, 300].map((base, i) =>
      block(i % 2 === 0 ? [base, base + 1, base + 2] : [base + 2, base + 1, base]),
    )
    expect(trendTest(blocks).p).toBe(1)
  })

  it('draws where there are many, the same with the same seed', () => {
    const blocks = Array.from({ length: 10 }, (_, i) =>
      block([i, i + 1.5, i + 2.9, i + 4.2], i < 5 ? 'a' : 'b'),
    )
    const found = trendTest(blocks)
    expect(found.exact).toBe(false)
    expect(found.pRising).toBe(1 / 20_001)
    expect(trendTest(blocks)).toEqual(found)
    const level = trendTest(blocks.map(one => ({ ...one, values: [1, 1, 1, 1] })))
    expect(level.p).toBe(1)
  })

  it('agrees with the conditional test of the textbook example: p about .021', () => {
    // One block of all 18 values has no groups of one; so the whole sample is permuted by hand, in seeded draws.
    const all = WORKERS.flat()
    const order = (values: readonly number[]) =>
      jonckheere([[values.slice(0, 6), values.slice(6, 12), values.slice(12)]]).statistic
    let state = 7
    const next = () => {
      state = (state * 48271) % 2147483647
      return state / 2147483647
    }
    let hits = 0
    for (let draw = 0; draw < 4000; draw++) {
      for (let i = all.length - 1; i > 0; i--) {
        const j = Math.floor(next() * (i + 1))
        ;[all[i], all[j]] = [all[j], all[i]]
      }
      if (order(all) >= 79) hits++
    }
    expect(hits / 4000).toBeGreaterThan(0.013)
    expect(hits / 4000).toBeLessThan(0.03)
  })

  it('holds its level where nothing differs', () => {
    let state = 11
    const next = () => {
      state = (state * 48271) % 2147483647
      return state / 2147483647
    }
    let found = 0
    const trials = 400
    for (let trial = 0; trial < trials; trial++) {
      const blocks = Array.from({ length: 4 }, (_, i) =>
        block(
          [0, 0, 0].map(() => i + next()),
          i < 2 ? 'a' : 'b',
        ),
      )
      if (trendTest(blocks).p < 0.05) found++
    }
    // 5% of 400 is 20; four standard errors above are 37.
    expect(found).toBeLessThan(38)
    expect(found).toBeGreaterThan(2)
  })

  it('refuses blocks that do not fit', () => {
    expect(() => trendTest([])).toThrow(DataError)
    expect(() => trendTest([block([1, 2]), block([1, 2, 3])])).toThrow(
      'expected 2 values in every block, got 3',
    )
  })
})
