/** @file What has to be said beside a claim's values: effects that differ between cold starts, curves with gaps, heights of peaks. */

import { number, percent } from '../../util/format.ts'
import { LEVEL, type PairStatistics } from '../analysis/analysis.ts'
import { type ArmComparison, type ClaimResult, detectableOf } from '../analysis/claims.ts'
import type { RunValue } from '../analysis/evidence.ts'
import type { MetricChoice } from '../plan/registration.ts'
import { differenceText, known, pText, sizeText } from './units.ts'

/** `not reproduced by rule 1, at registration`; null where the rule is still the same. */
export const registeredText = ({ atRegistration }: Pick<ClaimResult, 'atRegistration'>): string | null =>
  atRegistration && `${atRegistration.status} by rule ${atRegistration.rule}, at registration`

/** `none`: not with so many pairs. */
export const detectableText = ({ claim }: Pick<ClaimResult, 'claim'>, comparison: ArmComparison): string => {
  const found = detectableOf(claim, comparison)
  if (found === null) return '–'
  return found.effect === null ? 'none' : sizeText(claim.metric, found.effect)
}

/** `a +6.0, b −0.8`. */
export const startsText = (metric: MetricChoice, { byStart }: PairStatistics): string =>
  Object.entries(byStart)
    .map(([start, value]) => `${start} ${differenceText(metric, value)}`)
    .join(', ')

/** `differs between cold starts: a +6.0, b −0.8`; null where that does not show. */
export const startsNote = (metric: MetricChoice, { statistics }: ArmComparison): string | null =>
  statistics !== null && statistics.startsP !== null && statistics.startsP < LEVEL
    ? `differs between cold starts: ${startsText(metric, statistics)}`
    : null

/** A difference with its interval: `+1.8 [+1.3, +2.2]`; without one where so few pairs have none. */
export const intervalText = (
  metric: MetricChoice,
  difference: number,
  interval: readonly [number, number] | null,
): string => {
  const ends = interval && ` [${interval.map(end => differenceText(metric, end)).join(', ')}]`
  return `${differenceText(metric, difference)}${ends ?? ''}`
}

/** Whether an interval lies above 0, below it, or has it inside. */
const side = ([low, high]: readonly [number, number]): number => (low > 0 ? 1 : high < 0 ? -1 : 0)

/** `Trimmed mean −0.2 [−0.9, +0.3]`; where it lies on another side of 0 than the mean a few runs make that, which is said. */
export const robustText = (metric: MetricChoice, { interval, robust }: PairStatistics): string => {
  const text = `Trimmed mean ${intervalText(metric, robust.estimate, robust.interval)}`
  return robust.interval === null || side(interval) === side(robust.interval)
    ? text
    : `${text}, which says otherwise than the mean: a few runs make it`
}

/** What the two one-sided tests against a margin say, and how much of an interval is the start's own error. */
export const testNotes = (metric: MetricChoice, { statistics }: ArmComparison): string[] => {
  if (statistics === null) return []
  const { margin, startError } = statistics
  const tests = known(
    margin?.notBelow != null && `not below −${sizeText(metric, margin.margin)}: p ${pText(margin.notBelow)}`,
    margin?.notAbove != null && `not above ${sizeText(metric, margin.margin)}: p ${pText(margin.notAbove)}`,
  )
  const ends = margin?.interval.map(end => differenceText(metric, end)).join(' to ')
  return known(
    margin !== null && `90% interval ${ends}; ${tests.join(', ')}`,
    startError !== null && `standard error of the starts’ own values ${sizeText(metric, startError)}`,
  )
}

const DETAILS: Readonly<Record<string, { name: string; text: (value: number) => string }>> = {
  rise: { name: 'peak above the first value by', text: number },
  fall: { name: 'last value below the peak by', text: number },
  peak: { name: 'peak at', text: percent },
  known: { name: 'share of steps with a value', text: percent },
  lastStep: { name: 'last step with one', text: String },
  matchedStep: { name: 'read around step', text: String },
  compared: { name: 'share of problems of matched length', text: percent },
}

const detailText = (key: string, values: readonly number[]): string => {
  const { name, text } = DETAILS[key] ?? { name: key, text: number }
  const ends = [Math.min(...values), Math.max(...values)].map(text)
  return `${name} ${ends[0] === ends[1] ? ends[0] : ends.join(' to ')}`
}

const armDetails = (runs: readonly RunValue[]): string => {
  const keys = [...new Set(runs.flatMap(({ details }) => Object.keys(details ?? {})))]
  const valuesOf = (key: string) => runs.flatMap(({ details }) => details?.[key] ?? [])
  return keys.map(key => detailText(key, valuesOf(key))).join('; ')
}

/** What the runs of each arm tell of their values, least to most; a line an arm that has something to tell. */
export const detailNotes = ({ runs }: ClaimResult): string[] =>
  [...new Set(runs.map(({ arm }) => arm))].flatMap(arm => {
    const text = armDetails(runs.filter(run => run.arm === arm))
    return text === '' ? [] : [`${arm}: ${text}`]
  })
