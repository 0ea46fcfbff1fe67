import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { betweenStartsTest } from './between-starts.ts'

/** How often the test finds the starts different, of 300 times, with effects of their own. */
const found = (effects: readonly number[], runs = 5): number => {
  const rng = new Rng(`starts ${effects}`)
  const trials = Array.from({ length: 300 }, () => {
    const groups = effects.map(effect => Array.from({ length: runs }, () => effect + 0.02 * rng.normal()))
    return betweenStartsTest(groups)! < 0.05
  })
  return trials.filter(Boolean).length / 300
}

describe('the test between cold starts', () => {
  it('is exact for two of them', () => {
    // Of the 20 ways to take three of six, this one and its mirror image are the most extreme.
    expect(
      betweenStartsTest([
        [1, 2, 3],
        [4, 5, 6],
      ]),
    ).toBe(2 / 20)
    expect(
      betweenStartsTest([
        [1, 5, 3],
        [4, 2, 6],
      ]),
    ).toBeGreaterThan(0.2)
    expect(
      betweenStartsTest([
        [1, 2],
        [7, 8, 9],
      ]),
    ).toBe(1 / 10)
  })

  it('draws where there are more, and never gives 0', () => {
    const far = [0, 10, 20].map(centre => [1, 2, 3, 4, 5].map(value => centre + value / 10))
    const p = betweenStartsTest(far)!
    expect(p).toBeGreaterThan(0)
    expect(p).toBeLessThan(0.001)
  })

  it('finds an effect that cold starts share in at most one of twenty to differ between them', () => {
    expect(found([0.05, 0.05])).toBeLessThan(0.08)
  })

  it('finds an interaction of start and arm', () => {
    expect(found([0.06, -0.008])).toBeGreaterThan(0.95)
  })

  it('says nothing of one start or single runs, and nothing against ties', () => {
    expect(betweenStartsTest([[1, 2, 3]])).toBeNull()
    expect(betweenStartsTest([[1], [2]])).toBeNull()
    expect(
      betweenStartsTest([
        [0.1, 0.1],
        [0.1, 0.1],
      ]),
    ).toBe(1)
  })
})
