/** @file Windows over a run's metrics, and changes between them in units of their noise. */

import type { MetricGroup, MetricsRow } from '../../runs/rows.ts'
import { mean, variance } from '../../util/statistics.ts'

/** A metric's values, steps without one left out. */
export const seriesValues = (rows: readonly MetricsRow[], pick: (row: MetricsRow) => unknown): number[] =>
  rows.flatMap(row => {
    const value = pick(row)
    return typeof value === 'number' ? [value] : []
  })

/** The latest rows that have a metric, at most `count` of them: no need to walk a whole run at every step. */
export const latestValues = (
  rows: readonly MetricsRow[],
  count: number,
  pick: (row: MetricsRow) => unknown,
): number[] => {
  const found: number[] = []
  for (let i = rows.length - 1; i >= 0 && found.length < count; i--) {
    const value = pick(rows[i])
    if (typeof value === 'number') found.push(value)
  }
  return found.reverse()
}

/** A group of metrics in a row; none where it has none. */
export const groupOf = (row: MetricsRow, name: string): MetricGroup => {
  const group = row[name]
  return group !== null && typeof group === 'object' ? group : {}
}

export interface SeriesChange {
  before: number
  after: number
  /** |after - before| over its standard error; infinite for a change without any noise, 0 for none. */
  sigmas: number
}

/** How the mean changed from some values to others. */
export const changeBetween = (before: readonly number[], after: readonly number[]): SeriesChange => {
  const [first, last] = [mean(before), mean(after)]
  const error = Math.sqrt(variance(before, 1) / before.length + variance(after, 1) / after.length)
  const size = Math.abs(last - first)
  return { before: first, after: last, sigmas: size === 0 ? 0 : size / error }
}

/** From the first window of a metric to its latest; null while the two would overlap. */
export const changeSinceStart = (
  rows: readonly MetricsRow[],
  window: number,
  pick: (row: MetricsRow) => unknown,
): SeriesChange | null => {
  const before: number[] = []
  let next = 0
  for (; next < rows.length && before.length < window; next++) {
    const value = pick(rows[next])
    if (typeof value === 'number') before.push(value)
  }
  const after = latestValues(rows.slice(Math.max(next, rows.length - 4 * window)), window, pick)
  return before.length < window || after.length < window ? null : changeBetween(before, after)
}
