/** @file Curves of several runs as one: means with their intervals, and the colours of what they are of. */

import { studentQuantile } from '../../util/special.ts'
import { mean, std } from '../../util/statistics.ts'
import type { MetricsRow } from '../rows.ts'
import { type ChartSeries, type ChartSpec, roundForPage } from './chart-spec.ts'

/** Colours of a report's palette: one a line of a chart. */
export const COLORS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'] as const

export interface CurvePoint {
  step: number
  value: number
}

/** A curve of metrics.jsonl by dotted name: `entropy`, `criteria.companion`. Steps without a value have no point. */
export const curveOf = (metrics: readonly MetricsRow[], key: string): CurvePoint[] =>
  metrics.flatMap(row => {
    const value = key
      .split('.')
      .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], row)
    return typeof value === 'number' ? [{ step: row.step, value }] : []
  })

/**
 * Mean of what is known within `window` steps around each of the steps `at` (those of the points, unless told), the window
 * shorter at the ends. Where it holds nothing there is no point.
 */
export const smoothed = (
  points: readonly CurvePoint[],
  window: number,
  at: readonly number[] = points.map(({ step }) => step),
): CurvePoint[] => {
  const reach = Math.floor((window - 1) / 2)
  const known = new Map(points.map(({ step, value }) => [step, value]))
  return at.flatMap(step => {
    const around = Array.from({ length: 2 * reach + 1 }, (_, i) => known.get(step - reach + i))
    const values = around.filter(value => value !== undefined)
    return values.length > 0 ? [{ step, value: mean(values) }] : []
  })
}

export interface CurveBand {
  centre: number
  low: number
  high: number
}

/** Of fewer values an interval says more of how few they are than of what they are. */
const FEWEST_VALUES = 3

/** Quantiles by degrees of freedom: a chart asks for the same ones at every step. */
const quantiles = new Map<number, number>()
const quantileOf = (df: number): number => {
  const known = quantiles.get(df) ?? studentQuantile(0.975, df)
  quantiles.set(df, known)
  return known
}

/** 95% interval of a mean by Student's t; none for fewer than three values: of two it would be thirteen times their distance. */
export const studentInterval = (values: readonly number[]): [number, number] | null => {
  if (values.length < FEWEST_VALUES) return null
  const centre = mean(values)
  const half = quantileOf(values.length - 1) * (std(values, 1) / Math.sqrt(values.length))
  return [centre - half, centre + half]
}

/** A mean with its 95% interval, of no width where there is none. */
export const meanBand = (values: readonly number[]): CurveBand => {
  const centre = mean(values)
  const [low, high] = studentInterval(values) ?? [centre, centre]
  return { centre, low, high }
}

/** A mean between the lowest value and the highest. */
export const rangeBand = (values: readonly number[]): CurveBand => ({
  centre: mean(values),
  low: Math.min(...values),
  high: Math.max(...values),
})

/** A band over runs by step. Steps that fewer than half of the runs have are left out. */
export const bandOf = (
  curves: readonly (readonly CurvePoint[])[],
  band: (values: readonly number[]) => CurveBand = meanBand,
): Map<number, CurveBand> => {
  const bySteps = new Map<number, number[]>()
  for (const curve of curves)
    for (const { step, value } of curve) bySteps.set(step, [...(bySteps.get(step) ?? []), value])
  return new Map(
    [...bySteps]
      .filter(([, values]) => 2 * values.length >= curves.length)
      .map(([step, values]) => [step, band(values)]),
  )
}

/** About a hundred and fifty points a curve are more than the eye tells apart. */
const POINTS = 150

const thinned = (steps: readonly number[]): number[] => {
  const every = Math.ceil(steps.length / POINTS)
  return steps.filter((_, i) => i % every === 0 || i === steps.length - 1)
}

interface NamedBand {
  label: string
  color: string
  band: ReadonlyMap<number, CurveBand>
}

/** Bands as a chart, on the steps that any of them has; none where nothing has a band. */
export const bandChart = (
  drawn: Omit<ChartSpec, 'x' | 'series'>,
  bands: readonly NamedBand[],
): ChartSpec[] => {
  const known = bands.filter(({ band }) => band.size > 0)
  if (known.length === 0) return []
  const x = thinned([...new Set(known.flatMap(({ band }) => [...band.keys()]))].sort((a, b) => a - b))
  const series = known.map(({ label, color, band }): ChartSeries => {
    const column = (pick: keyof CurveBand) => x.map(step => roundForPage(band.get(step)?.[pick]))
    return { label, color, kind: 'band', values: column('centre'), low: column('low'), high: column('high') }
  })
  return [{ ...drawn, x, series }]
}

/** Bands of shares end at 0 and 1, where an interval of few runs would go on; a line that is no share stays as it is. */
const withinShares = (series: readonly ChartSeries[]): ChartSeries[] =>
  series.map(own => {
    const known = own.values.filter(value => value !== null)
    if (known.some(value => value < 0 || value > 1)) return own
    const cut = (values: ChartSeries['low']) =>
      values?.map(value => (value === null ? null : Math.max(0, Math.min(1, value))))
    return { ...own, low: cut(own.low), high: cut(own.high) }
  })

/** A chart of arms: where there is one line it has no legend, and what it is of stands beside the title. */
export const armChart = ({ series, ...spec }: ChartSpec): ChartSpec => ({
  ...spec,
  ...(series.length === 1 && { about: series[0].label }),
  series: spec.unit === 'rate' || spec.unit === 'share' ? withinShares(series) : series,
})
