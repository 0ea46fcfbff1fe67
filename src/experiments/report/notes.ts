/** @file What has to be said beside a claim's figures: effects that differ between cold starts, curves with gaps, heights of peaks. */

import { number, percent } from '../../util/format.ts'
import { LEVEL, type PairStatistics } from '../analysis/analysis.ts'
import { type ClaimResult, type Comparison, comparisonName, type RunValue } from '../analysis/claims.ts'
import type { MetricChoice } from '../plan/registration.ts'
import { differenceText } from './units.ts'

/** `a +6.0, b −0.8`. */
export const startsText = (metric: MetricChoice, { byStart }: PairStatistics): string =>
  Object.entries(byStart)
    .map(([start, value]) => `${start} ${differenceText(metric, value)}`)
    .join(', ')

/** `differs between cold starts: a +6.0, b −0.8`; null where that does not show. */
export const startsNote = (metric: MetricChoice, { statistics }: Comparison): string | null =>
  statistics !== null && statistics.startsP !== null && statistics.startsP < LEVEL
    ? `differs between cold starts: ${startsText(metric, statistics)}`
    : null

const DETAILS: Readonly<Record<string, { name: string; text: (value: number) => string }>> = {
  rise: { name: 'peak above the first value by', text: number },
  peak: { name: 'peak at', text: percent },
  known: { name: 'share of steps with a value', text: percent },
  lastStep: { name: 'last step with one', text: String },
}

const detailText = (key: string, values: readonly number[]): string => {
  const { name, text } = DETAILS[key] ?? { name: key, text: number }
  const ends = [Math.min(...values), Math.max(...values)].map(text)
  return `${name} ${ends[0] === ends[1] ? ends[0] : ends.join(' to ')}`
}

const armDetails = (runs: readonly RunValue[]): string => {
  const keys = [...new Set(runs.flatMap(({ details }) => Object.keys(details ?? {})))]
  return keys
    .map(key =>
      detailText(
        key,
        runs.flatMap(({ details }) => details?.[key] ?? []),
      ),
    )
    .join('; ')
}

/** What the runs of each arm tell of their figures, least to most; a line an arm that has something to tell. */
export const detailNotes = ({ runs }: ClaimResult): string[] =>
  [...new Set(runs.map(({ arm }) => arm))].flatMap(arm => {
    const text = armDetails(runs.filter(run => run.arm === arm))
    return text === '' ? [] : [`${arm}: ${text}`]
  })

/** All notes of a claim, for a text without tables. */
export const claimNotes = (claim: ClaimResult): string[] => {
  const { metric, reference } = claim.claim
  const starts = claim.comparisons.flatMap(comparison => {
    const note = startsNote(metric, comparison)
    return note === null ? [] : [`${comparisonName(comparison, reference)} ${note}`]
  })
  return [...starts, ...detailNotes(claim)]
}
