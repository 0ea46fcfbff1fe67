/** @file One chart, drawn with uPlot into its place on a page. */

import type uPlot from 'uplot'
import type { ChartSpec } from '../chart-spec.ts'
import { fillLegend } from './legend.ts'
import { isPowerOfTen, tickText } from './numbers.ts'
import { color, drawBands, drawIntervals, drawMarks, seriesOptions } from './paint.ts'
import { axisLimits, chartParts, isSparse, type Part } from './parts.ts'

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
  x: { time: false, ...(spec.over !== undefined && { distr: LOGARITHMIC, log: 2 }) },
  y: {
    ...(spec.unit === 'log' ? { distr: LOGARITHMIC } : {}),
    range: (_, lowest, highest) => axisLimits(spec, lowest, highest),
  },
})

/** A place on the axis of steps that is worth looking at: where a monitor's sign came. */
export interface ChartMark {
  step: number
  title: string
}

export interface ChartOptions {
  marks?: readonly ChartMark[]
  /** Called with a range that was drawn with the pointer. */
  onZoom?(from: number, to: number): void
  /** Called on a double click. */
  onReset?(): void
}

/** A chart on a page. */
export interface DrawnChart {
  redraw(): void
  /** Shows new values; false where the chart is another one, which has to be drawn anew. */
  update(spec: ChartSpec, marks?: readonly ChartMark[]): boolean
  destroy(): void
}

/** Parts that belong to the chart alone, so that it may put new values into them. */
const ownParts = (spec: ChartSpec): Part[] => chartParts(spec).map(part => ({ ...part }))

const isSameChart = (before: readonly Part[], after: readonly Part[]): boolean =>
  before.length === after.length &&
  before.every(({ label, kind, color: name }, i) => {
    const other = after[i]
    const named = label === other.label && kind === other.kind && name === other.color
    return named && isSparse(before[i]) === isSparse(other)
  })

const selectedSteps = (chart: uPlot): [number, number] | null => {
  const { left, width } = chart.select
  if (width < 2) return null
  return [chart.posToVal(left, 'x'), chart.posToVal(left + width, 'x')]
}

const cursorOptions = ({ onReset }: ChartOptions): uPlot.Cursor => ({
  sync: { key: 'step', scales: ['x', null] },
  points: { size: 6 },
  y: false,
  drag: { x: true, y: false, setScale: true },
  ...(onReset && {
    bind: {
      dblclick: (_chart, _target, handler) => event => {
        handler(event)
        onReset()
        return null
      },
    },
  }),
})

/**
 * Draws a chart into its place on a page and keeps it as wide as that.
 * @param Plot uPlot, by import or as the page has it
 * @param figure holds an element of class `plot` and one of class `legend`
 */
export const drawChart = (
  Plot: typeof uPlot,
  figure: Element,
  given: ChartSpec,
  draw: ChartOptions = {},
): DrawnChart => {
  const plot = figure.querySelector<HTMLElement>('.plot')!
  const spec = { ...given }
  const parts = ownParts(spec)
  const marks = [...(draw.marks ?? [])]
  const show = fillLegend(figure.querySelector('.legend')!, spec, parts)
  const size = () => ({ width: plot.clientWidth, height: plot.clientHeight })
  const data = (): uPlot.AlignedData => [spec.x, ...parts.map(part => part.values)]
  const zoomed = (self: uPlot) => {
    const steps = selectedSteps(self)
    if (steps !== null) draw.onZoom?.(...steps)
  }
  const options: uPlot.Options = {
    ...size(),
    padding: [8, 10, 0, 0],
    legend: { show: false },
    scales: scales(spec),
    axes: [stepAxis(), valueAxis(spec)],
    series: [{ label: 'step' }, ...parts.map(seriesOptions)],
    cursor: cursorOptions(draw),
    hooks: {
      drawAxes: [drawBands(parts), drawMarks(marks)],
      draw: [drawIntervals(parts)],
      setCursor: [self => show(self.cursor.idx ?? null)],
      setSelect: [zoomed],
    },
  }
  const chart = new Plot(options, data(), plot)
  const observer = new ResizeObserver(() => chart.setSize(size()))
  observer.observe(plot)
  return {
    redraw: () => chart.redraw(false),
    update(next, nextMarks = []) {
      const nextParts = ownParts(next)
      if (next.id !== spec.id || next.unit !== spec.unit || !isSameChart(parts, nextParts)) return false
      Object.assign(spec, next)
      for (const [i, part] of nextParts.entries()) Object.assign(parts[i], part)
      marks.splice(0, marks.length, ...nextMarks)
      chart.setData(data())
      show(null)
      return true
    },
    destroy() {
      observer.disconnect()
      chart.destroy()
    },
  }
}
