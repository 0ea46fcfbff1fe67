/**
 * @file From statistics to a status, by rules fixed beforehand. A claim is never called true because it looks true: interval, test
 * and size have to agree.
 *
 * For `greater` and `less` (differences turned so that the claim says "above 0"):
 * - reproduced: interval above 0, Holm-corrected p below .05, and the mean at least the smallest effect
 * - not reproduced: the interval lies below the smallest effect (an effect that matters is excluded), or below 0 altogether
 * - inconclusive: anything else; fewer than 6 pairs; pairs that do not differ at all (the setting had no effect)
 *
 * For `equal`, `not-above`, `not-below` (the smallest effect is the margin):
 * - reproduced: interval inside the margin and Holm-corrected p below .05
 * - not reproduced: interval beyond the margin altogether
 * - inconclusive: anything else; fewer than 6 pairs
 *
 * A claim of several comparisons is reproduced if all of them are, not reproduced if one of them is not.
 */

import { LEVEL, MIN_PAIRS, type PairStatistics, type ShareStatistics } from './analysis.ts'
import type { Direction } from './registration.ts'

export type Status = 'reproduced' | 'not reproduced' | 'inconclusive'

export interface Verdict {
  status: Status
  /** Why, in a sentence. */
  reason: string
}

const verdict = (status: Status, reason: string): Verdict => ({ status, reason })

const tooFew = (n: number): Verdict | null =>
  n < MIN_PAIRS
    ? verdict(
        'inconclusive',
        `${n} ${n === 1 ? 'pair' : 'pairs'}; at least ${MIN_PAIRS} are needed to say anything`,
      )
    : null

/** @param adjustedP after Holm's correction over the paper's claims */
export const pairVerdict = (
  statistics: PairStatistics | null,
  direction: Direction,
  smallestEffect: number,
  adjustedP: number,
): Verdict => {
  if (statistics === null) return verdict('inconclusive', 'no pair of finished runs')
  const few = tooFew(statistics.n)
  if (few) return few
  return direction === 'greater' || direction === 'less'
    ? differenceVerdict(statistics, direction, smallestEffect, adjustedP)
    : marginVerdict(statistics, direction, smallestEffect, adjustedP)
}

const differenceVerdict = (
  { difference, interval, sd }: PairStatistics,
  direction: 'greater' | 'less',
  smallestEffect: number,
  p: number,
): Verdict => {
  if (sd === 0 && difference === 0)
    return verdict(
      'inconclusive',
      'every pair is a tie: the arms did not differ in anything that was measured',
    )
  const [low, high] = direction === 'greater' ? interval : [-interval[1], -interval[0]]
  const effect = direction === 'greater' ? difference : -difference
  if (high < 0) return verdict('not reproduced', 'the difference is the other way round')
  if (high < smallestEffect)
    return verdict('not reproduced', 'an effect of the size that matters is excluded')
  if (low <= 0) return verdict('inconclusive', 'the interval includes 0')
  if (p >= LEVEL) return verdict('inconclusive', `p is ${p.toFixed(3)} after correction for the other claims`)
  if (effect < smallestEffect)
    return verdict('inconclusive', 'the effect is there, but below the size that was registered as mattering')
  return verdict('reproduced', 'interval, test and size agree')
}

const marginVerdict = (
  { interval: [low, high] }: PairStatistics,
  direction: 'equal' | 'not-above' | 'not-below',
  margin: number,
  p: number,
): Verdict => {
  const above = direction === 'not-below' ? false : low > margin
  const below = direction === 'not-above' ? false : high < -margin
  if (above || below) return verdict('not reproduced', 'the difference lies beyond the margin')
  const insideAbove = direction === 'not-below' || high < margin
  const insideBelow = direction === 'not-above' || low > -margin
  if (!(insideAbove && insideBelow)) return verdict('inconclusive', 'the interval reaches beyond the margin')
  if (p >= LEVEL) return verdict('inconclusive', `p is ${p.toFixed(3)} after correction for the other claims`)
  return verdict('reproduced', 'the interval lies within the margin')
}

/** The share of runs against what was registered: reached, or excluded by the interval. */
export const shareVerdict = (statistics: ShareStatistics | null, atLeast: number): Verdict => {
  if (statistics === null) return verdict('inconclusive', 'no finished run')
  const few = tooFew(statistics.n)
  if (few) return few
  const told = `${statistics.hits} of ${statistics.n} runs`
  if (statistics.share >= atLeast) return verdict('reproduced', told)
  if (statistics.interval[1] < atLeast) return verdict('not reproduced', told)
  return verdict('inconclusive', `${told}; the interval reaches what was registered`)
}

/** All have to hold; one that does not is enough. */
export const combined = (verdicts: readonly Verdict[]): Verdict => {
  const failed = verdicts.find(({ status }) => status === 'not reproduced')
  const open = verdicts.find(({ status }) => status === 'inconclusive')
  return failed ?? open ?? verdicts[0] ?? verdict('inconclusive', 'nothing was compared')
}
