/**
 * @file From statistics to a status, by rules fixed beforehand. A claim is never called true because it looks true: interval, test
 * and size have to agree.
 *
 * For `greater` and `less` (differences turned so that the claim says "above 0"):
 * - reproduced: interval above 0, corrected p below .05, and the mean at least the smallest effect
 * - not reproduced: interval below the smallest effect, and corrected p against an effect of that size below .05
 * - inconclusive: anything else; fewer than 6 pairs; pairs that do not differ at all (the setting had no effect)
 *
 * For `equal`, `not-above`, `not-below` (the smallest effect is the margin):
 * - reproduced: interval inside the margin and corrected p below .05
 * - not reproduced: interval beyond the margin altogether, and corrected p of that below .05
 * - inconclusive: anything else; fewer than 6 pairs
 *
 * A claim of several comparisons is reproduced if all of them are, not reproduced if one of them is not. So the p of the claim,
 * its largest, is corrected over the claims, and the p of the contrary over all comparisons of all claims.
 */

import type { Direction } from '../plan/registration.ts'
import { LEVEL, MIN_PAIRS, type PairStatistics, type ShareStatistics } from './analysis.ts'

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

/** What is left of the p of a comparison after Holm's correction: of what is claimed, and of the contrary. */
export interface CorrectedP {
  p: number
  contrary: number
}

export const pairVerdict = (
  statistics: PairStatistics | null,
  direction: Direction,
  smallestEffect: number,
  corrected: CorrectedP,
): Verdict => {
  if (statistics === null) return verdict('inconclusive', 'no pair of finished runs')
  const few = tooFew(statistics.n)
  if (few) return few
  return direction === 'greater' || direction === 'less'
    ? differenceVerdict(statistics, direction, smallestEffect, corrected)
    : marginVerdict(statistics, direction, smallestEffect, corrected)
}

const shortP = (p: number): string => p.toFixed(3)

const differenceVerdict = (
  { difference, interval, sd }: PairStatistics,
  direction: 'greater' | 'less',
  smallestEffect: number,
  { p, contrary }: CorrectedP,
): Verdict => {
  if (sd === 0 && difference === 0)
    return verdict(
      'inconclusive',
      'every pair is a tie: the arms did not differ in anything that was measured',
    )
  const [low, high] = direction === 'greater' ? interval : [-interval[1], -interval[0]]
  const effect = direction === 'greater' ? difference : -difference
  const isExcluded = high < smallestEffect
  if (isExcluded && contrary < LEVEL)
    return verdict(
      'not reproduced',
      high < 0 ? 'the difference is the other way round' : 'an effect of the size that matters is excluded',
    )
  if (isExcluded)
    return verdict(
      'inconclusive',
      `the interval excludes an effect of the size that matters, but the p against it is ${shortP(contrary)} after correction for the other comparisons`,
    )
  if (low <= 0) return verdict('inconclusive', 'the interval includes 0')
  if (p >= LEVEL) return verdict('inconclusive', `p is ${shortP(p)} after correction for the other claims`)
  if (effect < smallestEffect)
    return verdict('inconclusive', 'the effect is there, but below the size that was registered as mattering')
  return verdict('reproduced', 'interval, test and size agree')
}

const marginVerdict = (
  { interval: [low, high] }: PairStatistics,
  direction: 'equal' | 'not-above' | 'not-below',
  margin: number,
  { p, contrary }: CorrectedP,
): Verdict => {
  const above = direction === 'not-below' ? false : low > margin
  const below = direction === 'not-above' ? false : high < -margin
  if (above || below)
    return contrary < LEVEL
      ? verdict('not reproduced', 'the difference lies beyond the margin')
      : verdict(
          'inconclusive',
          `the interval lies beyond the margin, but the p of that is ${shortP(contrary)} after correction for the other comparisons`,
        )
  const insideAbove = direction === 'not-below' || high < margin
  const insideBelow = direction === 'not-above' || low > -margin
  if (!(insideAbove && insideBelow)) return verdict('inconclusive', 'the interval reaches beyond the margin')
  if (p >= LEVEL) return verdict('inconclusive', `p is ${shortP(p)} after correction for the other claims`)
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

/** All have to hold; one that does not is enough. The reason names those that decide. */
export const combined = (verdicts: readonly (Verdict & { name: string })[]): Verdict => {
  const deciding = (['not reproduced', 'inconclusive'] as const)
    .map(status => verdicts.filter(each => each.status === status))
    .find(({ length }) => length > 0)
  if (!deciding)
    return verdicts.length > 0
      ? verdict('reproduced', verdicts[0].reason)
      : verdict('inconclusive', 'nothing was compared')
  const reasons = [...new Set(deciding.map(({ reason }) => reason))].map(reason => {
    const names = deciding.flatMap(each => (each.reason === reason ? [each.name] : []))
    return verdicts.length > 1 ? `${names.join(', ')}: ${reason}` : reason
  })
  return verdict(deciding[0].status, reasons.join('; '))
}
