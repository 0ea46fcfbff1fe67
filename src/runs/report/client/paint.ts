/** @file How a chart's parts look: colours of the page, lines, points, areas, and the intervals that uPlot does not draw. */

import type uPlot from 'uplot'
import { isSparse, type Part } from './parts.ts'

const probe = document.body.appendChild(document.createElement('i'))
probe.hidden = true

/** A colour of the page by its name, as it is now: the page follows the screen's scheme. */
export const color = (name: string): string => {
  probe.style.color = `var(--${name})`
  return getComputedStyle(probe).color
}

/** A colour over another one, of which it leaves so much. */
const mix = (over: string, percent: number, under = 'transparent'): string =>
  `color-mix(in srgb, ${over} ${percent}%, ${under})`

type Bounded = Part & Required<Pick<Part, 'low' | 'high'>>

const isBounded = (part: Part): part is Bounded => part.low !== undefined && part.high !== undefined

/** Draws something for each part in view that has an interval, within the plot. */
const drawBounded =
  (parts: readonly Part[], isMeant: (part: Part) => boolean, draw: (chart: uPlot, part: Bounded) => void) =>
  (chart: uPlot): void => {
    const { ctx, bbox } = chart
    ctx.save()
    ctx.beginPath()
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
    ctx.clip()
    for (const [index, part] of parts.entries())
      if (isBounded(part) && isMeant(part) && chart.series[index + 1].show) draw(chart, part)
    ctx.restore()
  }

const drawBand = (chart: uPlot, { color: name, values, low, high }: Bounded): void => {
  const { ctx } = chart
  const known = values.map((_, i) => i).filter(i => low[i] !== null && high[i] !== null)
  const at = (ends: Part['values'], i: number): [number, number] => [
    chart.valToPos(chart.data[0][i], 'x', true),
    chart.valToPos(ends[i]!, 'y', true),
  ]
  const outline = [...known.map(i => at(high, i)), ...known.toReversed().map(i => at(low, i))]
  ctx.fillStyle = mix(color(name), 16)
  ctx.beginPath()
  for (const [x, y] of outline) ctx.lineTo(x, y)
  ctx.fill()
}

const drawInterval = (chart: uPlot, { color: name, values, low, high }: Bounded): void => {
  const { ctx } = chart
  const cap = 3 * devicePixelRatio
  ctx.strokeStyle = color(name)
  ctx.lineWidth = 1.25 * devicePixelRatio
  ctx.beginPath()
  for (const [i, value] of values.entries()) {
    if (value === null || low[i] === null || high[i] === null) continue
    const x = Math.round(chart.valToPos(chart.data[0][i], 'x', true))
    const ends = [low[i], high[i]].map(end => chart.valToPos(end, 'y', true))
    ctx.moveTo(x, ends[0])
    ctx.lineTo(x, ends[1])
    for (const y of ends) {
      ctx.moveTo(x - cap, y)
      ctx.lineTo(x + cap, y)
    }
  }
  ctx.stroke()
}

/** Shades the intervals of bands. */
export const drawBands = (parts: readonly Part[]) => drawBounded(parts, isBand, drawBand)

/** Draws the intervals of points as bars. */
export const drawIntervals = (parts: readonly Part[]) =>
  drawBounded(parts, part => !isBand(part), drawInterval)

const isBand = ({ kind }: Part): boolean => kind === 'band'

/** How uPlot draws a part. */
export const seriesOptions = (part: Part): uPlot.Series => {
  const stroke = () => color(part.color)
  const surface = () => color('surface')
  const base = { label: part.label, spanGaps: true, points: { show: false } }
  const few = isSparse(part)
  switch (part.kind) {
    case 'raw':
      return { ...base, stroke: () => mix(color(part.color), 32), width: 1 }
    case 'area':
      return {
        ...base,
        stroke: surface,
        width: 0.5,
        fill: () => mix(color(part.color), 70, color('surface')),
      }
    case 'points':
      return {
        ...base,
        ...(few ? { paths: () => null } : {}),
        stroke,
        width: 1.5,
        points: { show: true, size: 7, width: 1.5, fill: surface, stroke },
      }
    default:
      return { ...base, stroke, width: 2, points: { show: few, fill: stroke } }
  }
}

/** Draws a dashed line with a flag at each step that is marked. */
export const drawMarks =
  (marks: readonly { step: number }[]) =>
  (chart: uPlot): void => {
    const { ctx, bbox } = chart
    const flag = 4 * devicePixelRatio
    ctx.save()
    ctx.strokeStyle = color('warn')
    ctx.fillStyle = color('warn')
    ctx.lineWidth = devicePixelRatio
    ctx.setLineDash([flag, flag])
    for (const { step } of marks) {
      const x = Math.round(chart.valToPos(step, 'x', true))
      if (x < bbox.left || x > bbox.left + bbox.width) continue
      ctx.beginPath()
      ctx.moveTo(x, bbox.top)
      ctx.lineTo(x, bbox.top + bbox.height)
      ctx.stroke()
      ctx.beginPath()
      ctx.moveTo(x - flag, bbox.top)
      ctx.lineTo(x + flag, bbox.top)
      ctx.lineTo(x, bbox.top + 1.5 * flag)
      ctx.fill()
    }
    ctx.restore()
  }
