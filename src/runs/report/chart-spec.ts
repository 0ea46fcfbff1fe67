/** @file What a chart shows, as data: written into a page by Node, drawn in the browser by client/chart.ts. */

/** `share` is percent on the fixed scale 0..1, `rate` percent from 0 up; `log` has a logarithmic scale. */
export type ChartUnit = 'share' | 'rate' | 'number' | 'seconds' | 'log'

export interface ChartSeries {
  label: string
  /** Name of a colour of the page: `c1`..`c6`, `ink`, `before`. */
  color: string
  /**
   * `raw` is the thin line behind a smoothed one; `points` carry intervals, a `band` is a line with its interval shaded;
   * `area`s are stacked in order.
   */
  kind: 'line' | 'raw' | 'points' | 'area' | 'band'
  values: (number | null)[]
  low?: (number | null)[]
  high?: (number | null)[]
}

export interface ChartSpec {
  id: string
  title: string
  about?: string
  unit: ChartUnit
  /** Steps. */
  x: number[]
  series: ChartSeries[]
}

/** Keeps a page small: five significant digits are more than a screen shows. */
export const roundForPage = (value: number | null | undefined): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? Number(value.toPrecision(5)) : null
