/** @file Means of several runs with their intervals, and the colours of what they are of. */

import { mean, std } from '../../util/statistics.ts'

/** Colours of the report's palette: one an arm of a chart, or one a cold start. */
export const COLORS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'] as const

export interface Band {
  centre: number
  low: number
  high: number
}

/** A mean with its 95% interval: 1.96 standard errors, none for a single value. */
export const meanBand = (values: readonly number[]): Band => {
  const centre = mean(values)
  const half = values.length > 1 ? (1.96 * std(values, 1)) / Math.sqrt(values.length) : 0
  return { centre, low: centre - half, high: centre + half }
}
