/**
 * @file Tests of pairs' differences: of what a claim says, of its contrary, and of a margin (two one-sided tests). Sign-flip
 * permutation tests; where all pairs of a cold start share its one value, that value's own error is part of them.
 */

import { Rng } from '../../util/rng.ts'
import { type Alternative, EXACT_SIGN_FLIPS, mean, normalCdf, signFlipTest } from '../../util/statistics.ts'
import type { Direction } from '../plan/registration.ts'

/** Draws where there are too many sign patterns to go through. */
const DRAWS = 20_000

/** How likely a mean plus normal noise is as extreme as the observed one. */
const noisyTail =
  (observed: number, noise: number, alternative: Alternative) =>
  (flipped: number): number => {
    const above = (bound: number) => normalCdf((flipped - bound) / noise)
    const below = (bound: number) => normalCdf((bound - flipped) / noise)
    if (alternative === 'greater') return above(observed)
    if (alternative === 'less') return below(observed)
    return above(Math.abs(observed)) + below(-Math.abs(observed))
  }

/** The mean under a sign pattern, one bit a difference. */
const flippedMean = (differences: readonly number[], isFlipped: (i: number) => boolean): number =>
  differences.reduce((sum, d, i) => sum + (isFlipped(i) ? -d : d), 0) / differences.length

/** p of the sign-flip test whose statistic has normal noise of its own. */
const noisyFlips = (differences: readonly number[], noise: number, alternative: Alternative): number => {
  const tail = noisyTail(mean(differences), noise, alternative)
  if (differences.length <= EXACT_SIGN_FLIPS) {
    const patterns = 2 ** differences.length
    let total = 0
    for (let pattern = 0; pattern < patterns; pattern++)
      total += tail(flippedMean(differences, i => ((pattern >> i) & 1) === 1))
    return total / patterns
  }
  const rng = new Rng('sign flips with the error of a start')
  let total = 0
  for (let draw = 0; draw < DRAWS; draw++) total += tail(flippedMean(differences, () => rng.int(2) === 1))
  return (1 + total) / (1 + DRAWS)
}

/**
 * Sign-flip test of differences that share an error. Under a sign pattern the mean has the pattern's value plus a normal error of
 * that size; p is the chance of something as extreme as was seen. Never less than without that error.
 * @param sharedError standard error of the mean that no flip of pairs can show; 0 for none
 */
const flipTest = (
  differences: readonly number[],
  sharedError: number,
  alternative: Alternative = 'two-sided',
): number => {
  const exact = signFlipTest(differences, { alternative })
  return sharedError === 0 ? exact : Math.max(exact, noisyFlips(differences, sharedError, alternative))
}

const shiftedTest = (
  differences: readonly number[],
  by: number,
  alternative: 'greater' | 'less',
  sharedError: number,
): number =>
  flipTest(
    differences.map(d => d + by),
    sharedError,
    alternative,
  )

/** p of the two one-sided tests against a margin (Schuirmann 1987): that the difference is not below it, and not above it. */
export const marginTests = (
  differences: readonly number[],
  margin: number,
  sharedError = 0,
): { notBelow: number; notAbove: number } => ({
  notBelow: shiftedTest(differences, margin, 'greater', sharedError),
  notAbove: shiftedTest(differences, -margin, 'less', sharedError),
})

/**
 * The test of a direction. `greater`, `less`: two-sided against no difference. The others are tests that the difference is
 * not beyond the margin (non-inferiority; for `equal` both, of which the larger p counts).
 */
export const directionTest = (
  differences: readonly number[],
  direction: Direction,
  margin: number,
  sharedError = 0,
): number => {
  if (direction === 'greater' || direction === 'less') return flipTest(differences, sharedError)
  const { notBelow, notAbove } = marginTests(differences, margin, sharedError)
  if (direction === 'equal') return Math.max(notBelow, notAbove)
  return direction === 'not-below' ? notBelow : notAbove
}

/**
 * The test that a claim is wrong. `greater`, `less`: one-sided, against an effect of the size that matters. The others: that the
 * difference lies beyond the margin, for `equal` on either side (twice the smaller p).
 */
export const contraryTest = (
  differences: readonly number[],
  direction: Direction,
  smallestEffect: number,
  sharedError = 0,
): number => {
  const below = (bound: number) => shiftedTest(differences, -bound, 'less', sharedError)
  const above = (bound: number) => shiftedTest(differences, -bound, 'greater', sharedError)
  switch (direction) {
    case 'greater':
      return below(smallestEffect)
    case 'less':
      return above(-smallestEffect)
    case 'not-below':
      return below(-smallestEffect)
    case 'not-above':
      return above(smallestEffect)
    case 'equal':
      return Math.min(1, 2 * Math.min(above(smallestEffect), below(-smallestEffect)))
  }
}
