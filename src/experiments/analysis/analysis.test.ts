import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { holm } from '../../util/statistics.ts'
import type { Direction } from '../plan/registration.ts'
import { compareItems, comparePairs, type RunPair, shareOf, valueAtCost } from './analysis.ts'
import { detectableEffect } from './detectable.ts'
import { contraryTest, directionTest } from './pair-tests.ts'
import { type ClaimStatus, combined, pairVerdict, shareVerdict } from './status.ts'

/** Pairs of two starts and half as many seeds, with given differences. */
const pairsOf = (differences: readonly number[]): RunPair[] =>
  differences.map((d, i) => ({ start: i % 2 ? 'b' : 'a', seed: String(i >> 1), a: 0.5 + d, b: 0.5 }))

const noisy = (rng: Rng, effect: number, sd: number, n = 10) =>
  Array.from({ length: n }, () => effect + sd * rng.normal())

const statusOf = (
  differences: readonly number[],
  direction: Direction,
  least: number,
  tests = 1,
): ClaimStatus => {
  const statistics = comparePairs(pairsOf(differences), { direction, smallestEffect: least })!
  const corrected = (p: number) => Math.min(1, tests * p)
  const values = { ...statistics, within: statistics.margin?.interval ?? statistics.interval }
  return pairVerdict(values, direction, least, {
    p: corrected(statistics.p),
    contrary: corrected(statistics.pContrary),
  }).status
}

const rateOf = (
  status: ClaimStatus,
  trials: number,
  draw: (rng: Rng) => readonly number[],
  least: number,
) => {
  const rng = new Rng(`monte carlo ${status} ${least}`)
  const hits = Array.from({ length: trials }, () => statusOf(draw(rng), 'greater', least) === status)
  return hits.filter(Boolean).length / trials
}

describe('pairs of runs', () => {
  it('have the worked-out statistics of a small example', () => {
    const statistics = comparePairs(pairsOf([0.1, 0.2, 0.3, 0.1, 0.2, 0.3]), {
      direction: 'greater',
      smallestEffect: 0.05,
    })!
    expect(statistics.n).toBe(6)
    expect(statistics.difference).toBeCloseTo(0.2, 12)
    expect(statistics.meanB).toBeCloseTo(0.5, 12)
    // All six of one sign: 2 of 2^6 sign patterns are as extreme.
    expect(statistics.p).toBe(2 / 64)
    expect(statistics.sd).toBeCloseTo(Math.sqrt(0.04 / 5), 12)
    // Six shifted by .05 are still of one sign.
    expect(statistics.pContrary).toBe(1)
    expect(statistics.startsP).toBeGreaterThan(0.05)
    expect(statistics.byStart.a).toBeCloseTo(0.2, 12)
    expect(statistics.interval[0]).toBeGreaterThan(0.1)
    expect(statistics.interval[1]).toBeLessThan(0.3)
  })

  it('find something where nothing is at most one time in twenty', () => {
    expect(rateOf('reproduced', 200, rng => noisy(rng, 0, 0.02), 0.001)).toBeLessThan(0.06)
  })

  it('find an effect of the detectable size about four times in five, as the first of sixteen', () => {
    const rng = new Rng('detectable')
    // The spread is known here; what is printed of a file takes the sample's.
    const effect = detectableEffect(0.02, 10, 0.05 / 16, 'greater')!
    const found = Array.from(
      { length: 150 },
      () => statusOf(noisy(rng, effect, 0.02), 'greater', 0.001, 16) === 'reproduced',
    )
    const rate = found.filter(Boolean).length / 150
    expect(rate).toBeGreaterThan(0.7)
    expect(rate).toBeLessThan(0.9)
  })

  it('deny effects that are just there in at most one paper of twenty, of one comparison or of four', () => {
    for (const comparisons of [1, 4]) {
      const rng = new Rng(`denied ${comparisons}`)
      const papers = Array.from({ length: 800 / comparisons }, () => {
        const contrary = Array.from({ length: comparisons }, () =>
          contraryTest(noisy(rng, 0.02, 0.02), 'greater', 0.02),
        )
        return holm(contrary).some(p => p < 0.05)
      })
      expect(papers.filter(Boolean).length / papers.length).toBeLessThan(0.06)
    }
  })

  it('find a large effect nearly always, and say no to one that would matter and is not there', () => {
    expect(rateOf('reproduced', 100, rng => noisy(rng, 0.06, 0.02), 0.01)).toBeGreaterThan(0.97)
    expect(rateOf('not reproduced', 100, rng => noisy(rng, 0, 0.02), 0.04)).toBeGreaterThan(0.97)
  })

  it('test margins: equal within, at most above', () => {
    const same = [0.001, -0.001, 0.002, -0.002, 0, 0.001, 0, -0.001]
    expect(statusOf(same, 'equal', 0.01)).toBe('reproduced')
    expect(
      statusOf(
        same.map(d => d + 0.05),
        'equal',
        0.01,
      ),
    ).toBe('not reproduced')
    const much = same.map(d => d - 0.05)
    expect(statusOf(much, 'not-above', 0.01)).toBe('reproduced')
    expect(statusOf(much, 'not-below', 0.01)).toBe('not reproduced')
    expect(directionTest(same, 'equal', 0.01)).toBe(1 / 256)
  })

  it('test the contrary of every direction', () => {
    const high = [0.05, 0.06, 0.05, 0.07, 0.05, 0.06]
    const of = (direction: Direction, size: number, sign = 1) =>
      contraryTest(
        high.map(d => sign * d),
        direction,
        size,
      )
    // All beyond the bound, and all within.
    expect([of('greater', 0.1), of('greater', 0.01)]).toEqual([1 / 64, 1])
    expect([of('less', 0.1, -1), of('less', 0.01, -1)]).toEqual([1 / 64, 1])
    expect([of('not-above', 0.01), of('not-above', 0.1)]).toEqual([1 / 64, 1])
    expect([of('not-below', 0.01, -1), of('not-below', 0.01)]).toEqual([1 / 64, 1])
    expect([of('equal', 0.01), of('equal', 0.01, -1), of('equal', 0.1)]).toEqual([2 / 64, 2 / 64, 1])
  })
})

describe('the status of a claim', () => {
  it('is inconclusive for ties, and for too few seeds whatever they show', () => {
    expect(statusOf([0, 0, 0, 0, 0, 0, 0, 0], 'greater', 0.01)).toBe('inconclusive')
    expect(statusOf([0.3, 0.31, 0.29, 0.3, 0.3], 'greater', 0.01)).toBe('inconclusive')
    expect(pairVerdict(null, 'greater', 0.01, { p: 1, contrary: 1 }).reason).toBe('no pair of finished runs')
  })

  it('but ties are what an exact equality asks for', () => {
    expect(statusOf([0, 0, 0, 0, 0, 0], 'equal', 1e-9)).toBe('reproduced')
  })

  it('wants interval, corrected p and size together', () => {
    const clear = [0.02, 0.03, 0.02, 0.03, 0.02, 0.03]
    expect(statusOf(clear, 'greater', 0.01)).toBe('reproduced')
    // 2/64 twice over is above .05.
    expect(statusOf(clear, 'greater', 0.01, 2)).toBe('inconclusive')
    expect(statusOf(clear, 'less', 0.01)).toBe('not reproduced')
    expect(statusOf([0.05, 0.0, 0.01, 0.06, 0.01, 0.02], 'greater', 0.04)).not.toBe('reproduced')
  })

  it('denies only what the corrected test against it denies too', () => {
    const little = [0.001, 0.002, -0.001, 0.002, 0.001, 0.0]
    expect(statusOf(little, 'greater', 0.01)).toBe('not reproduced')
    // 1/64 four times over is above .05.
    expect(statusOf(little, 'greater', 0.01, 4)).toBe('inconclusive')
    const beyond = little.map(d => d + 0.05)
    expect([1, 4].map(tests => statusOf(beyond, 'not-above', 0.01, tests))).toEqual([
      'not reproduced',
      'inconclusive',
    ])
  })

  it('of several comparisons is that of the weakest', () => {
    const of = (...all: ClaimStatus[]) =>
      combined(all.map((status, i) => ({ status, reason: `reason ${i}`, name: `name ${i}` })))
    expect(of('reproduced', 'reproduced')).toEqual({ status: 'reproduced', reason: 'reason 0' })
    expect(of('reproduced', 'inconclusive')).toEqual({
      status: 'inconclusive',
      reason: 'name 1: reason 1',
    })
    expect(of('inconclusive', 'not reproduced', 'not reproduced')).toEqual({
      status: 'not reproduced',
      reason: 'name 1: reason 1; name 2: reason 2',
    })
    expect(of('inconclusive').reason).toBe('reason 0')
    const alike = ['x', 'y'].map(name => ({ status: 'inconclusive' as const, reason: 'open', name }))
    expect(combined(alike).reason).toBe('x, y: open')
  })

  it('of a share of runs is what was counted', () => {
    const runs = (hits: number) => shareOf(Array.from({ length: 10 }, (_, i) => Number(i < hits)))
    expect([8, 7, 2].map(hits => shareVerdict(runs(hits), 0.8).status)).toEqual([
      'reproduced',
      'inconclusive',
      'not reproduced',
    ])
    expect(shareVerdict(shareOf([1, 1, 1]), 0.8).status).toBe('inconclusive')
  })
})

describe('items of a shared test set', () => {
  it('are compared by McNemar’s exact test', () => {
    const items = (right: string) => new Map([...right].map((x, i) => [String(i), Number(x)]))
    const one = compareItems([{ a: items('1111110000'), b: items('0000001000') }])!
    expect(one).toEqual({ items: 10, onlyA: 6, onlyB: 1, p: expect.closeTo(0.125, 9) })
    const several = compareItems([
      { a: items('11'), b: items('00') },
      { a: items('01'), b: items('10') },
    ])!
    expect([several.onlyA, several.onlyB]).toEqual([1, 0])
    expect(compareItems([{ a: items(''), b: items('') }])).toBeNull()
  })
})

describe('values at equal tokens, or in equal time', () => {
  const points = [
    { cost: 0, value: 0.2 },
    { cost: 100, value: 0.4 },
    { cost: 300, value: 0.5 },
  ]
  it('lie on the line between two evaluations', () => {
    expect([0, 50, 100, 200, 300].map(cost => valueAtCost(points, cost))).toEqual([
      0.2,
      expect.closeTo(0.3, 12),
      0.4,
      expect.closeTo(0.45, 12),
      0.5,
    ])
  })
  it('are unknown beyond the last one', () => {
    expect(valueAtCost(points, 301)).toBeNull()
    expect(valueAtCost([], 1)).toBeNull()
  })
})
