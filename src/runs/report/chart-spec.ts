/** @file What a chart shows, as data: written into a page by Node, drawn in the browser by client/chart.ts. */

/** `share` is percent on the fixed scale 0..1, `rate` percent from 0 up; `log` has a logarithmic scale. */
export type ChartUnit = 'share' | 'rate' | 'number' | 'seconds' | 'log'

export interface ChartSeries {
  label: string
  /** Name of a colour of the page: `c1`..`c6`, `ink`, `before`. */
  color: string
  /** `points` carry intervals, a `band` is a line with its interval shaded; `area`s are stacked in order. */
  kind: 'line' | 'points' | 'area' | 'band'
  values: (number | null)[]
  low?: (number | null)[]
  high?: (number | null)[]
}

export interface ChartSpec {
  id: string
  title: string
  about?: string
  unit: ChartUnit
  /** Steps; or what else curves go over, which is then on a logarithmic scale. */
  x: number[]
  over?: string
  /** Values averaged by a thick line, with the values themselves thin behind it; absent or 1: none. */
  smooth?: number
  series: ChartSeries[]
}

/** The id of a chart's place on a page: plain, because a page's reader changes some characters of what people call criteria. */
export const chartPlace = (id: string): string =>
  `chart-${id.replace(/[^\w.-]/g, mark => `_${mark.charCodeAt(0).toString(16)}`)}`

/** Keeps a page small: five significant digits are more than a screen shows. */
export const roundForPage = (value: number | null | undefined): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? Number(value.toPrecision(5)) : null

/** Steps averaged by the thick line: about a twenty-fifth of the run, odd; 1 where there is little to smooth. */
export const smoothingWindow = (count: number): number =>
  count < 12 ? 1 : Math.max(3, Math.round(count / 25) | 1)

/** Centred moving mean; null where the middle value is missing; shorter at the ends. */
export const movingMean = (values: readonly (number | null)[], window: number): (number | null)[] => {
  const reach = (window - 1) / 2
  return values.map((value, index) => {
    if (value === null) return null
    const near = values.slice(Math.max(0, index - reach), index + reach + 1).filter(item => item !== null)
    return near.reduce((sum, item) => sum + item, 0) / near.length
  })
}
