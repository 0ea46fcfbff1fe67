/** @file Tests: sign-flip permutation, McNemar, Holm's correction. */

import { DataError } from './errors.ts'
import { Rng } from './rng.ts'
import { logChoose } from './special.ts'

export type Alternative = 'two-sided' | 'greater' | 'less'

export interface SignFlipOptions {
  alternative?: Alternative
  /** Draws when there are more than 12 differences; default 100,000. */
  draws?: number
  seed?: number | string
}

/** Up to this many differences all 2^n sign patterns are enumerated. */
export const EXACT_SIGN_FLIPS = 12

const asExtreme = (alternative: Alternative, observed: number) => {
  const slack = 1e-12 * Math.max(1, Math.abs(observed))
  if (alternative === 'greater') return (sum: number) => sum >= observed - slack
  if (alternative === 'less') return (sum: number) => sum <= observed + slack
  return (sum: number) => Math.abs(sum) >= Math.abs(observed) - slack
}

/**
 * Paired sign-flip permutation test of "the differences are symmetric about zero" with the sum as statistic: exact for
 * at most 12 differences, otherwise seeded Monte Carlo with the (1 + hits) / (1 + draws) estimate.
 * @returns the p-value
 * @throws DataError for no differences, or one that is not finite.
 */
export const signFlipTest = (
  differences: readonly number[],
  { alternative = 'two-sided', draws = 100_000, seed = 0 }: SignFlipOptions = {},
): number => {
  const n = differences.length
  if (n === 0)
    throw new DataError(
      'signFlipTest: expected at least one paired difference, got none; pair the arms by seed',
    )
  if (!differences.every(Number.isFinite))
    throw new DataError(
      `signFlipTest: expected finite differences, got ${differences.find(d => !Number.isFinite(d))}; leave such pairs out`,
    )
  const extreme = asExtreme(
    alternative,
    differences.reduce((sum, d) => sum + d, 0),
  )
  if (n <= EXACT_SIGN_FLIPS) return exactFlips(differences, extreme)
  const rng = new Rng(`${seed}/sign-flip`)
  let hits = 0
  for (let draw = 0; draw < draws; draw++) {
    let sum = 0
    for (const d of differences) sum += rng.uint32() & 1 ? d : -d
    if (extreme(sum)) hits++
  }
  return (1 + hits) / (1 + draws)
}

const exactFlips = (differences: readonly number[], extreme: (sum: number) => boolean): number => {
  const patterns = 2 ** differences.length
  let hits = 0
  for (let pattern = 0; pattern < patterns; pattern++) {
    let sum = 0
    for (let i = 0; i < differences.length; i++) sum += (pattern >> i) & 1 ? -differences[i] : differences[i]
    if (extreme(sum)) hits++
  }
  return hits / patterns
}

/**
 * McNemar's exact test for two arms on the same items: two-sided binomial on the discordant pairs (McNemar 1947).
 * @param onlyFirst items that only the first arm got right
 * @param onlySecond items that only the second arm got right
 */
export const mcNemarExact = (onlyFirst: number, onlySecond: number): number => {
  const discordant = onlyFirst + onlySecond
  let tail = 0
  for (let k = 0; k <= Math.min(onlyFirst, onlySecond); k++)
    tail += Math.exp(logChoose(discordant, k) - discordant * Math.LN2)
  return Math.min(1, 2 * tail)
}

/**
 * Holm's step-down correction: adjusted p-values in the order given, each at least its own p and at most 1 (Holm 1979).
 * Reject at level alpha where the adjusted value is below alpha.
 */
export const holm = (pValues: readonly number[]): number[] => {
  const order = pValues.map((_, i) => i).sort((a, b) => pValues[a] - pValues[b])
  const adjusted = new Array<number>(pValues.length)
  let running = 0
  for (const [rank, index] of order.entries()) {
    running = Math.max(running, Math.min(1, (pValues.length - rank) * pValues[index]))
    adjusted[index] = running
  }
  return adjusted
}
