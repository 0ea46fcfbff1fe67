/** @file A chart in a page that goes on: drawn when it comes into view, given new values as they come. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { type ChartSpec, chartPlace } from '../../../runs/report/chart-spec.ts'
import {
  type ChartMark,
  type ChartOptions,
  type DrawnChart,
  drawChart,
} from '../../../runs/report/client/chart.ts'
import { ChartFrame } from '../../../runs/report/parts/chart-frame.tsx'

export interface ChartLook {
  /** Points that a thick line averages; null: as the report does. */
  smooth: number | null
  log: boolean
}

export const lookOf = (query: URLSearchParams): ChartLook => ({
  smooth: query.has('smooth') ? Math.max(1, Number(query.get('smooth')) || 1) : null,
  log: query.get('log') === '1',
})

/** The same curves with other smoothing, or on a logarithmic scale where they have room for one. */
const withLook = (spec: ChartSpec, { smooth, log }: ChartLook): ChartSpec => {
  const unit = log && spec.unit !== 'share' && spec.series[0]?.kind !== 'area' ? 'log' : spec.unit
  return { ...spec, unit, smooth: smooth === null ? spec.smooth : smooth | 1 }
}

interface ChartProps extends ChartOptions {
  spec: ChartSpec
  look?: ChartLook
}

const NO_MARKS: readonly ChartMark[] = []
const PLAIN: ChartLook = { smooth: null, log: false }

/** Whether an element has come near the view once. */
const useSeen = (element: { current: Element | null }): boolean => {
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    if (element.current === null) return
    const observer = new IntersectionObserver(
      entries => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return
        setSeen(true)
        observer.disconnect()
      },
      { rootMargin: '300px' },
    )
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return seen
}

export const Chart = ({ spec, look = PLAIN, marks = NO_MARKS, onZoom, onReset }: ChartProps) => {
  const figure = useRef<HTMLElement>(null)
  const drawn = useRef<DrawnChart | null>(null)
  const seen = useSeen(figure)
  const { smooth, log } = look
  const shown = useMemo(() => withLook(spec, { smooth, log }), [spec, smooth, log])
  useEffect(() => {
    if (!seen || figure.current === null) return
    if (drawn.current?.update(shown, marks)) return
    drawn.current?.destroy()
    figure.current.querySelector('.legend')!.replaceChildren()
    drawn.current = drawChart(uPlot, figure.current, shown, { marks, onZoom, onReset })
  }, [shown, marks, seen, onZoom, onReset])
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const redraw = () => drawn.current?.redraw()
    scheme.addEventListener('change', redraw)
    return () => {
      scheme.removeEventListener('change', redraw)
      drawn.current?.destroy()
      drawn.current = null
    }
  }, [])
  return (
    <figure class="panel" ref={figure} id={chartPlace(spec.id)}>
      <ChartFrame spec={shown} />
    </figure>
  )
}

/** A curve in small, for a line of a table. */
export const Spark = ({ values, label }: { values: readonly (number | null)[]; label: string }) => {
  const known = values.filter(value => value !== null)
  if (known.length < 2) return null
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const across = (i: number) => ((i / (values.length - 1)) * 96 + 2).toFixed(1)
  const down = (value: number) => (26 - ((value - low) / (high - low || 1)) * 22).toFixed(1)
  const points = values.flatMap((value, i) => (value === null ? [] : [`${across(i)},${down(value)}`]))
  const last = points.at(-1)!.split(',')
  return (
    <svg class="spark" viewBox="0 0 100 28" role="img" aria-label={label} preserveAspectRatio="none">
      <polyline
        fill="none"
        stroke="var(--c1)"
        stroke-width="1.5"
        vector-effect="non-scaling-stroke"
        points={points.join(' ')}
      />
      <circle fill="var(--c1)" cx={last[0]} cy={last[1]} r="2" />
    </svg>
  )
}
