/** @file A metric's values for people: shares in percent and points, others as numbers. */

import { number, percent, points } from '../../util/format.ts'
import { METRICS } from '../metrics/index.ts'
import type { MetricChoice } from '../plan/registration.ts'

export const isShare = ({ name }: MetricChoice): boolean => METRICS[name].unit === 'share'

/** A value in the metric's unit. */
export const valueText = (metric: MetricChoice, value: number | null): string =>
  isShare(metric) ? percent(value) : number(value)

/** A difference of two values, with its sign. */
export const differenceText = (metric: MetricChoice, difference: number): string => {
  if (isShare(metric)) return points(difference)
  return difference > 0 ? `+${number(difference)}` : number(difference)
}

/** A size without a sign. */
export const sizeText = (metric: MetricChoice, size: number): string =>
  differenceText(metric, size).replace('+', '')

/** What a difference of the metric is counted in. */
export const unitText = (metric: MetricChoice): string => (isShare(metric) ? 'points' : '')

/** Those of some texts that there are. */
export const known = (...texts: (string | null | undefined | false)[]): string[] =>
  texts.filter(text => typeof text === 'string')

/** `.0004`, `< .0001`. */
export const pText = (p: number | null): string =>
  p === null ? '–' : p < 0.0001 ? '< .0001' : p.toFixed(4).replace(/^0/, '')
