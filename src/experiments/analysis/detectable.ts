/**
 * @file How large an effect has to be before the sign-flip test of so many pairs finds it four times in five.
 *
 * The test is exact, and with few pairs its level is far from that of a normal approximation, so the power is found by
 * simulation. For one set of pairs the test rejects every shift above a threshold: the shifted sum is passed by a sign pattern
 * that flips the pairs F exactly if the mean of F, shifted, is not above 0. So p is a count of subset means, and the threshold is
 * one of them (Hartigan 1969, "Using subsample values as typical values").
 */

import { Rng } from '../../util/rng.ts'
import { EXACT_SIGN_FLIPS, quantile } from '../../util/statistics.ts'
import type { Direction } from '../plan/registration.ts'

/** How often an effect that counts as detectable is found. */
export const DETECTED_POWER = 0.8
const SIMULATIONS = 1000

/** Sign patterns that are drawn where there are too many to go through. */
const DRAWN = 2 ** 12

/** Which pairs each sign pattern flips, 1 or 0 a pair; without the pattern that flips none. */
const flips = (pairs: number): Uint8Array[] => {
  if (pairs <= EXACT_SIGN_FLIPS)
    return Array.from({ length: 2 ** pairs - 1 }, (_, pattern) =>
      Uint8Array.from({ length: pairs }, (_, i) => ((pattern + 1) >> i) & 1),
    )
  const rng = new Rng(`detectable ${pairs}`)
  const drawn = Array.from({ length: DRAWN }, () => Uint8Array.from({ length: pairs }, () => rng.int(2)))
  return drawn.filter(pattern => pattern.includes(1))
}

const meanOf = (noise: Float64Array, pattern: Uint8Array): number => {
  let sum = 0
  let count = 0
  for (let i = 0; i < noise.length; i++)
    if (pattern[i] === 1) {
      sum += noise[i]
      count++
    }
  return sum / count
}

/**
 * Smallest true effect, in standard deviations of the differences (normal noise), that is found with 80% power. For `greater` and
 * `less` by the two-sided test. For the others it is the smallest margin that is shown to be kept where there is no difference:
 * `not-above` and `not-below` by one one-sided test, `equal` by two. Null where even the smallest p there is misses the level.
 */
const unitDetectable = (pairs: number, level: number, direction: Direction): number | null => {
  const patterns = flips(pairs)
  const isTwoSided = direction === 'greater' || direction === 'less'
  // Patterns as extreme as the observed one, itself among them, that keep p below the level.
  const allowed = Math.ceil((isTwoSided ? level / 2 : level) * (patterns.length + 1)) - 1
  if (allowed < 1) return null
  const rng = new Rng(`detectable noise ${pairs}`)
  const thresholds = Array.from({ length: SIMULATIONS }, () => {
    const noise = Float64Array.from({ length: pairs }, () => rng.normal())
    const means = new Float64Array(patterns.length)
    for (const [i, pattern] of patterns.entries()) means[i] = meanOf(noise, pattern)
    means.sort()
    const fromAbove = -means[allowed - 1]
    return direction === 'equal' ? Math.max(fromAbove, means[means.length - allowed]) : fromAbove
  })
  return quantile(thresholds, DETECTED_POWER)
}

const known = new Map<string, number | null>()

/**
 * What so many pairs with this spread detect: see `unitDetectable`. Null for none.
 * @param sd standard deviation of the differences
 * @param level that p has to stay below
 */
export const detectableEffect = (
  sd: number,
  pairs: number,
  level: number,
  direction: Direction,
): number | null => {
  const key = `${pairs} ${level} ${direction === 'less' ? 'greater' : direction}`
  if (!known.has(key)) known.set(key, unitDetectable(pairs, level, direction))
  const unit = known.get(key)!
  return unit === null ? null : sd * unit
}
