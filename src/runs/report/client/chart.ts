/** @file One chart, drawn with uPlot into its place on a page. */

import type uPlot from 'uplot'
import type { ChartSpec } from '../chart-spec.ts'
import { fillLegend } from './legend.ts'
import { isPowerOfTen, tickText } from './numbers.ts'
import { color, drawBands, drawIntervals, seriesOptions } from './paint.ts'
import { axisLimits, partsOf } from './parts.ts'

const STEP_INCREMENTS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10_000]
/** Logarithmic, as uPlot numbers its distributions. */
const LOGARITHMIC = 3

const grid = { stroke: () => color('grid'), width: 1 }

const axis = (own: uPlot.Axis): uPlot.Axis => ({
  stroke: () => color('muted'),
  font: `11px ${getComputedStyle(document.body).fontFamily}`,
  grid,
  ticks: { show: false },
  ...own,
})

const stepAxis = (): uPlot.Axis =>
  axis({ space: 60, size: 26, gap: 4, grid: { show: false }, incrs: STEP_INCREMENTS })

const valueAxis = ({ unit }: ChartSpec): uPlot.Axis => {
  const onlyPowers = (ticks: number[]) => ticks.map(tick => (isPowerOfTen(tick) ? tick : null))
  return axis({
    space: 34,
    size: 48,
    gap: 6,
    grid: { ...grid, filter: (_, ticks) => (unit === 'log' ? onlyPowers(ticks) : ticks) },
    values: (_, ticks) => ticks.map(tick => (tick === null ? '' : tickText[unit](tick))),
  })
}

const scales = (spec: ChartSpec): uPlot.Scales => ({
  x: { time: false },
  y: {
    ...(spec.unit === 'log' ? { distr: LOGARITHMIC } : {}),
    range: (_, lowest, highest) => axisLimits(spec, lowest, highest),
  },
})

/**
 * Draws a chart into its place on a page and keeps it as wide as that.
 * @param Plot uPlot, by import or as the page has it
 * @param figure holds an element of class `plot` and one of class `legend`
 */
export const drawChart = (Plot: typeof uPlot, figure: Element, spec: ChartSpec): uPlot => {
  const plot = figure.querySelector<HTMLElement>('.plot')!
  const parts = partsOf(spec)
  const show = fillLegend(figure.querySelector('.legend')!, spec, parts)
  const size = () => ({ width: plot.clientWidth, height: plot.clientHeight })
  const options: uPlot.Options = {
    ...size(),
    padding: [8, 10, 0, 0],
    legend: { show: false },
    scales: scales(spec),
    axes: [stepAxis(), valueAxis(spec)],
    series: [{ label: 'step' }, ...parts.map(seriesOptions)],
    cursor: {
      sync: { key: 'step', scales: ['x', null] },
      points: { size: 6 },
      y: false,
      drag: { x: true, y: false, setScale: true },
    },
    hooks: {
      drawAxes: [drawBands(parts)],
      draw: [drawIntervals(parts)],
      setCursor: [self => show(self.cursor.idx ?? null)],
    },
  }
  const chart = new Plot(options, [spec.x, ...parts.map(part => part.values)], plot)
  new ResizeObserver(() => chart.setSize(size())).observe(plot)
  return chart
}
