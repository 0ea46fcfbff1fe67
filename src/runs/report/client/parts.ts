/** @file What of a chart is drawn: areas summed up, values that a scale has no place for left out, limits of the axis. */

import { type ChartSeries, type ChartSpec, movingMean } from '../chart-spec.ts'

type Values = ChartSeries['values']

/** A series as it is drawn; `raw` is the thin line behind a smoothed one. */
export interface Part extends Omit<ChartSeries, 'kind'> {
  kind: ChartSeries['kind'] | 'raw'
  /** What the legend says of it, where that is not what is drawn: an area's own value, not the sum. */
  shown?: Values
}

/** A line between two points would claim to know the way between them. */
export const isSparse = ({ values }: Part): boolean => values.filter(value => value !== null).length < 3

export const isStacked = (spec: ChartSpec): boolean => spec.series[0].kind === 'area'

/** Areas are drawn as sums, the tallest first, so that each later one covers its share. */
const stacked = ({ x, series }: ChartSpec): Part[] => {
  const sums: Part[] = []
  let below = x.map(() => 0)
  for (const part of series) {
    below = below.map((value, i) => value + (part.values[i] ?? 0))
    sums.unshift({ ...part, shown: part.values, values: below })
  }
  return sums
}

/** Lines as moving means, with their values thin behind them; of bands the means alone. */
const smoothed = ({ series, smooth = 1 }: ChartSpec): Part[] => {
  if (smooth === 1) return [...series]
  const mean = (values: Values) => movingMean(values, smooth)
  return series.flatMap((part): Part[] => {
    if (part.kind === 'line')
      return [
        { ...part, kind: 'raw' },
        { ...part, values: mean(part.values) },
      ]
    const { values, low = [], high = [] } = part
    return [part.kind === 'band' ? { ...part, values: mean(values), low: mean(low), high: mean(high) } : part]
  })
}

/** The series of a chart in the order in which they are drawn. */
export const chartParts = (spec: ChartSpec): Part[] => {
  const parts = isStacked(spec) ? stacked(spec) : smoothed(spec)
  if (spec.unit !== 'log') return parts
  // A logarithmic scale has no place for zero.
  return parts.map(part => ({ ...part, values: part.values.map(v => (v !== null && v > 0 ? v : null)) }))
}

/** The last value that is known up to and with `index`. */
export const lastKnown = (values: Values, index = values.length - 1): number | null =>
  values.slice(0, index + 1).findLast(value => value !== null) ?? null

/** A score with penalties may lie below zero. */
const shareLimits = ({ series }: ChartSpec): [number, number] => {
  const values = series.flatMap(part => part.values.concat(part.low ?? []))
  const lowest = values.reduce<number>((least, value) => Math.min(least, value ?? 0), 0)
  return [Math.floor(lowest * 10) / 10, 1]
}

/**
 * Ends of the vertical axis.
 * @param lowest of the values in view, bands left out; null where there are none
 */
export const axisLimits = (
  spec: ChartSpec,
  lowest: number | null,
  highest: number | null,
): [number, number] => {
  if (spec.unit === 'share') return shareLimits(spec)
  if (lowest === null || highest === null) return [0, 1]
  const bands = spec.series.filter(part => part.kind === 'band')
  const ends = bands.flatMap(({ low = [], high = [] }) => [...low, ...high]).filter(value => value !== null)
  const low = Math.min(lowest, ...ends)
  const high = Math.max(highest, ...ends)
  if (spec.unit === 'rate') return [Math.min(0, low * 1.1), Math.min(1, Math.max(0.01, high * 1.1))]
  if (spec.unit === 'log')
    return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high) + 1e-9)]
  if (isStacked(spec)) return [0, high * 1.05 || 1]
  const room = (high - low || Math.abs(high) || 1) * 0.08
  return [low >= 0 && low - room < 0 ? 0 : low - room, high + room]
}
