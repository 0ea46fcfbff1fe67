/** @file A claim as its page shows it: what was expected, the differences that were tested, and every run behind it. */

import { dotRow } from '../../runs/report/dots.ts'
import type { ArmDotsView, ClaimView, ComparisonView, TrackView } from '../../runs/report/view.ts'
import { percent } from '../../util/format.ts'
import { isMargin } from '../analysis/analysis.ts'
import { type ArmComparison, type ClaimResult, comparisonName } from '../analysis/claims.ts'
import { metricText } from '../plan/registration.ts'
import {
  detailNotes,
  detectableText,
  intervalText,
  registeredText,
  startsNote,
  startsText,
  testNotes,
} from './notes.ts'
import { differenceText, isShare, pText, sizeText, unitText, valueText } from './units.ts'

const DIRECTION_WORDS = {
  greater: 'above',
  less: 'below',
  equal: 'equal to',
  'not-above': 'not above',
  'not-below': 'not below',
} as const

const BUDGETS = {
  steps: '',
  tokens: ', at equal generated tokens',
  both: ', at equal steps and at equal generated tokens',
} as const

const planOf = ({ claim }: ClaimResult): string => {
  const { metric, direction, smallestEffect, test, equal, atLeast, note = '' } = claim
  if (test === 'share')
    return `${metricText(metric)}; expected in at least ${percent(atLeast)} of the runs. ${note}`.trim()
  const margin = isMargin(direction) ? 'margin' : 'smallest effect that matters'
  const size = `${sizeText(metric, smallestEffect)} ${unitText(metric)}`.trim()
  const budget = BUDGETS[equal === 'steps' || equal === 'tokens' ? equal : 'both']
  return `${metricText(metric)}; expected: ${DIRECTION_WORDS[direction]}${budget}; ${margin}: ${size}. ${note}`.trim()
}

/** A difference on a scale of its own, zero in the middle. */
const trackOf = (
  { direction, smallestEffect }: ClaimResult['claim'],
  { difference, interval }: NonNullable<ArmComparison['statistics']>,
): TrackView => {
  const reach = 1.15 * Math.max(...interval.map(Math.abs), Math.abs(difference), smallestEffect, 1e-9)
  return {
    ends: [-reach, reach],
    value: difference,
    interval,
    least: isMargin(direction) ? null : direction === 'greater' ? smallestEffect : -smallestEffect,
    zone: isMargin(direction)
      ? [
          direction === 'not-above' ? -reach : -smallestEffect,
          direction === 'not-below' ? reach : smallestEffect,
        ]
      : null,
  }
}

/** What is told of a comparison beside its figures, in full. */
const detailsOf = (claim: ClaimResult, comparison: ArmComparison): string => {
  const { metric } = claim.claim
  const { statistics, items, a, b, p, adjustedP, status, reason } = comparison
  if (statistics === null) return ''
  const { robust, byStart, startsP } = statistics
  const between = startsP === null ? '' : ` (p of a difference between them ${pText(startsP)})`
  return [
    `Trimmed mean ${intervalText(metric, robust.estimate, robust.interval)}`,
    ...testNotes(metric, comparison),
    ...(Object.keys(byStart).length < 2
      ? []
      : [`By cold start: ${startsText(metric, statistics)}${between}`]),
    ...(items === null
      ? []
      : [
          `Item by item on ${items.items} problems: ${a} ahead on ${items.onlyA}, ${b} on ${items.onlyB}; McNemar’s p ${pText(items.p)} (these models, this set)`,
        ]),
    ...(claim.comparisons.length > 1
      ? [`p ${pText(p)}, by itself corrected ${pText(adjustedP)}; ${status}: ${reason}`]
      : []),
  ]
    .map(text => `${text}.`)
    .join(' ')
}

const comparisonView = (claim: ClaimResult, comparison: ArmComparison): ComparisonView => {
  const { statistics, status, p } = comparison
  const { metric, reference } = claim.claim
  const difference = (value: number) => differenceText(metric, value)
  return {
    name: comparisonName(comparison, reference),
    track: statistics && trackOf(claim.claim, statistics),
    status,
    effect: statistics ? difference(statistics.difference) : '–',
    interval: statistics?.interval.map(difference).join(' to ') ?? null,
    means: statistics
      ? `${valueText(metric, statistics.meanA)} / ${valueText(metric, statistics.meanB)}`
      : '–',
    p: statistics ? pText(p) : '–',
    detectable: detectableText(claim, comparison),
    n: statistics?.n ?? 0,
    note: startsNote(metric, comparison),
    details: detailsOf(claim, comparison),
  }
}

const shareView = ({ share, claim: { atLeast }, status }: ClaimResult): ComparisonView => ({
  name: `share of runs, at least ${percent(atLeast)}`,
  track: share && {
    ...{ ends: [0, 1], value: share.share, interval: share.interval, least: atLeast!, zone: null },
  },
  status,
  effect: share ? `${share.hits} of ${share.n}` : '–',
  interval: share?.interval.map(end => percent(end)).join(' to ') ?? null,
  ...{ means: '', p: '–', detectable: '–', n: share?.n ?? 0, note: null, details: '' },
})

/** Every run of each arm that has a value. @param abouts what arms are */
const dotsOf = (
  { claim, runs }: ClaimResult,
  starts: string[],
  abouts: ReadonlyMap<string, string>,
): ArmDotsView | null => {
  const rows = [...new Set(runs.map(({ arm }) => arm))].flatMap(arm => {
    const dots = runs.flatMap(({ arm: own, start, seed, value }) =>
      own === arm && value !== null
        ? [{ value, start, title: `cold start ${start}, seed ${seed}: ${valueText(claim.metric, value)}` }]
        : [],
    )
    return dots.length > 0 ? [dotRow(arm, dots, abouts.get(arm))] : []
  })
  if (rows.length === 0) return null
  return { rows, starts, isShare: isShare(claim.metric), isYesNo: claim.test === 'share' }
}

export const claimView = (
  claim: ClaimResult,
  starts: string[],
  abouts: ReadonlyMap<string, string>,
): ClaimView => {
  const { claim: planned, status, reason, atRegistration, adjustedP, comparisons } = claim
  return {
    ...{ id: planned.id, statement: planned.statement, status, reason },
    registered: atRegistration && { status: registeredText(claim)!, reason: atRegistration.reason },
    adjustedP: pText(adjustedP),
    plan: planOf(claim),
    comparisons:
      planned.test === 'share' ? [shareView(claim)] : comparisons.map(each => comparisonView(claim, each)),
    dots: dotsOf(claim, starts, abouts),
    notes: detailNotes(claim),
  }
}
