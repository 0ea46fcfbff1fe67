import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { signFlipTest } from '../../util/statistics.ts'
import type { Direction } from '../plan/registration.ts'
import { detectableEffect } from './detectable.ts'
import { directionTest } from './pair-tests.ts'

/** How often pairs with a true effect pass the test at a level. */
const power = (pairs: number, effect: number, passes: (differences: number[]) => boolean): number => {
  const rng = new Rng(`power ${pairs}`)
  const trials = Array.from({ length: 300 }, () =>
    passes(Array.from({ length: pairs }, () => effect + rng.normal())),
  )
  return trials.filter(Boolean).length / 300
}

describe('the detectable effect', () => {
  it.each([
    [6, 0.05],
    [10, 0.05],
    [10, 0.05 / 16],
    [14, 0.05],
  ])('of %d pairs at the level %d is found four times in five', (pairs, level) => {
    const effect = detectableEffect(1, pairs, level, 'greater')!
    const rate = power(pairs, effect, d => signFlipTest(d, { draws: 1000 }) < level)
    expect(rate).toBeGreaterThan(0.74)
    expect(rate).toBeLessThan(0.86)
    expect(detectableEffect(0.02, pairs, level, 'less')).toBeCloseTo(0.02 * effect, 12)
  })

  it.each(['equal', 'not-above', 'not-below'] as const)(
    'of a margin claim (%s) is the margin that is shown four times in five where nothing differs',
    (direction: Direction) => {
      const margin = detectableEffect(1, 10, 0.05 / 4, direction)!
      const rate = power(10, 0, d => directionTest(d, direction, margin) < 0.05 / 4)
      expect(rate).toBeGreaterThan(0.74)
      expect(rate).toBeLessThan(0.86)
    },
  )

  it('is none where even pairs of one sign miss the level', () => {
    // 2 of 2^6 is .031, 1 of 2^6 half of it.
    expect(detectableEffect(1, 6, 0.05 / 2, 'greater')).toBeNull()
    expect(detectableEffect(1, 6, 0.05 / 2, 'not-above')).not.toBeNull()
    expect(detectableEffect(1, 10, 0.05 / 16, 'greater')).not.toBeNull()
    expect(detectableEffect(1, 10, 0.05 / 26, 'greater')).toBeNull()
  })

  it('asks for more where the level is stricter', () => {
    const [alone, first] = [1, 16].map(tests => detectableEffect(1, 10, 0.05 / tests, 'greater')!)
    expect(first).toBeGreaterThan(1.3 * alone)
  })
})
