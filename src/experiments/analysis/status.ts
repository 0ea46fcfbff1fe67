/**
 * @file From statistics to a status, by rules fixed beforehand. A claim is never called true because it looks true: interval, test
 * and size have to agree. What the versions of the rule differ in is in rules.ts.
 *
 * For `greater` and `less` (differences turned so that the claim says "above 0"):
 * - reproduced: interval above 0, corrected p below .05, and the mean at least the smallest effect
 * - not reproduced: interval below the smallest effect, and corrected p against an effect of that size below .05
 * - untestable: what it is compared with is so near the end of the scale that the smallest effect cannot show, and the difference
 *   is not shown to be the other way round
 * - inconclusive: anything else; fewer than 6 pairs; pairs that do not differ at all (the setting had no effect)
 *
 * For `equal`, `not-above`, `not-below` (the smallest effect is the margin):
 * - reproduced: 90% interval inside the margin, and corrected p of the two one-sided tests below .05
 * - not reproduced: interval beyond the margin altogether, and corrected p of that below .05
 * - untestable: the margin cannot be left, because the scale ends before
 * - inconclusive: anything else; fewer than 6 pairs
 *
 * A claim of several comparisons is reproduced if all of them are, not reproduced if one of them is not, untestable if all the
 * others are reproduced. So the p of the claim, its largest, is corrected over the claims, and the p of the contrary over all
 * comparisons of all claims.
 */

import type { Direction } from '../plan/registration.ts'
import { isMargin, LEVEL, MIN_PAIRS, type PairStatistics, type ShareStatistics } from './analysis.ts'
import type { Untestable } from './untestable.ts'

export const STATUSES = ['reproduced', 'not reproduced', 'inconclusive', 'untestable'] as const
export type ClaimStatus = (typeof STATUSES)[number]

export interface ClaimVerdict {
  status: ClaimStatus
  /** Why, in a sentence. */
  reason: string
}

const verdict = (status: ClaimStatus, reason: string): ClaimVerdict => ({ status, reason })

const tooFew = (n: number): ClaimVerdict | null =>
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

/** The values of a comparison that decide. */
export interface Decisive
  extends Pick<PairStatistics, 'n' | 'difference' | 'interval' | 'sd' | 'p' | 'pContrary'> {
  /** The interval that has to lie within a margin. */
  within: [number, number]
}

/** @param bound why the claim cannot show; null where it can */
export const pairVerdict = (
  effect: Decisive | null,
  direction: Direction,
  smallestEffect: number,
  corrected: CorrectedP,
  bound: Untestable | null = null,
): ClaimVerdict => {
  if (effect === null) return verdict('inconclusive', 'no pair of finished runs')
  const few = tooFew(effect.n)
  if (few) return few
  const found = isMargin(direction)
    ? marginVerdict(effect, direction, smallestEffect, corrected)
    : differenceVerdict(effect, direction, smallestEffect, corrected)
  // What is shown to be the other way round has shown.
  return bound === null || found.reason === OTHER_WAY ? found : verdict('untestable', bound.reason)
}

const OTHER_WAY = 'the difference is the other way round'

const shortP = (p: number): string => p.toFixed(3)

const differenceVerdict = (
  { difference, interval, sd }: Decisive,
  direction: 'greater' | 'less',
  smallestEffect: number,
  { p, contrary }: CorrectedP,
): ClaimVerdict => {
  if (sd === 0 && difference === 0)
    return verdict(
      'inconclusive',
      'every pair is a tie: the arms did not differ in anything that was measured',
    )
  const [low, high] = direction === 'greater' ? interval : [-interval[1], -interval[0]]
  const effect = direction === 'greater' ? difference : -difference
  const isExcluded = high < smallestEffect
  if (isExcluded && contrary < LEVEL)
    return verdict('not reproduced', high < 0 ? OTHER_WAY : 'an effect of the size that matters is excluded')
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
  { interval: [low, high], within }: Decisive,
  direction: 'equal' | 'not-above' | 'not-below',
  margin: number,
  { p, contrary }: CorrectedP,
): ClaimVerdict => {
  const above = direction === 'not-below' ? false : low > margin
  const below = direction === 'not-above' ? false : high < -margin
  if (above || below)
    return contrary < LEVEL
      ? verdict('not reproduced', 'the difference lies beyond the margin')
      : verdict(
          'inconclusive',
          `the interval lies beyond the margin, but the p of that is ${shortP(contrary)} after correction for the other comparisons`,
        )
  const insideAbove = direction === 'not-below' || within[1] < margin
  const insideBelow = direction === 'not-above' || within[0] > -margin
  if (!(insideAbove && insideBelow)) return verdict('inconclusive', 'the interval reaches beyond the margin')
  if (p >= LEVEL) return verdict('inconclusive', `p is ${shortP(p)} after correction for the other claims`)
  return verdict('reproduced', 'the interval lies within the margin')
}

/** The share of runs against what was registered: reached, or excluded by the interval. */
export const shareVerdict = (statistics: ShareStatistics | null, atLeast: number): ClaimVerdict => {
  if (statistics === null) return verdict('inconclusive', 'no finished run')
  const few = tooFew(statistics.n)
  if (few) return few
  const counts = `${statistics.hits} of ${statistics.n} runs`
  if (statistics.share >= atLeast) return verdict('reproduced', counts)
  if (statistics.interval[1] < atLeast) return verdict('not reproduced', counts)
  return verdict('inconclusive', `${counts}; the interval reaches what was registered`)
}

/** All have to hold; one that does not is enough. The reason names those that decide. */
export const combined = (verdicts: readonly (ClaimVerdict & { name: string })[]): ClaimVerdict => {
  const deciding = (['not reproduced', 'inconclusive', 'untestable'] as const)
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
