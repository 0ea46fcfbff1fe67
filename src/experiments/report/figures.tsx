/** @file Figures that are no curves over steps: best-of-N over N, and profiles of criteria by arm. */

import type { ComponentChildren } from 'preact'
import { COLORS, type CurveBand, meanBand } from '../../runs/report/bands.ts'
import { percent } from '../../util/format.ts'
import { mean } from '../../util/statistics.ts'
import { evalsOn, type FinishedRun } from '../metrics/index.ts'
import type { ProbeResults } from '../metrics/probed.ts'
import type { Registration } from '../plan/registration.ts'

type Chart = Registration['charts'][number]

interface Point extends CurveBand {
  x: number
}

interface FrameProps {
  chart: Chart
  about: string
  arms: readonly string[]
  children: ComponentChildren
}

const Frame = ({ chart: { title }, about, arms, children }: FrameProps) => (
  <figure class="panel">
    <figcaption>
      <span class="name">
        {title}
        <small>{about}</small>
      </span>
      <span class="legend">
        {arms.map((arm, i) => (
          <span key={arm}>
            <i style={{ background: `var(--${COLORS[i]})` }} />
            {arm}
          </span>
        ))}
      </span>
    </figcaption>
    {children}
  </figure>
)

const bestOfN = (runs: readonly FinishedRun[]): Point[] => {
  const curves = runs.flatMap(
    ({ probes }) => (probes['best-of-n'] as ProbeResults['best-of-n'] | undefined)?.curve ?? [],
  )
  const ns = [...new Set(curves.map(({ n }) => n))].sort((a, b) => a - b)
  return ns.map(n => ({ x: n, ...meanBand(curves.flatMap(point => (point.n === n ? [point.score] : []))) }))
}

const [WIDTH, HEIGHT] = [520, 240]
const EDGE = { left: 46, right: 12, top: 10, bottom: 24 }

/** A line with its band over N on a logarithmic scale. */
const Lines = ({ arms }: { arms: readonly { points: readonly Point[]; color: string }[] }) => {
  const all = arms.flatMap(({ points }) => points)
  const [low, high] = [Math.min(...all.map(p => p.low)), Math.max(...all.map(p => p.high))]
  const last = Math.log2(Math.max(2, ...all.map(({ x }) => x)))
  const x = (n: number) => EDGE.left + (Math.log2(n) / last) * (WIDTH - EDGE.left - EDGE.right)
  const y = (value: number) =>
    EDGE.top + ((high - value) / (high - low || 1)) * (HEIGHT - EDGE.top - EDGE.bottom)
  const at = (n: number, value: number) => `${x(n).toFixed(1)},${y(value).toFixed(1)}`
  return (
    <svg class="lines" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="Best of N over N">
      {[0, 1, 2, 3].map(i => {
        const value = low + (i / 3) * (high - low)
        return (
          <>
            <line x1={EDGE.left} x2={WIDTH - EDGE.right} y1={y(value)} y2={y(value)} />
            <text x={EDGE.left - 6} y={y(value) + 4} text-anchor="end">
              {percent(value)}
            </text>
          </>
        )
      })}
      {[...new Set(all.map(p => p.x))].map(n => (
        <text x={x(n)} y={HEIGHT - 6} text-anchor="middle" key={n}>
          {n}
        </text>
      ))}
      {arms.map(({ points, color }) => {
        const band = [...points.map(p => at(p.x, p.high)), ...points.toReversed().map(p => at(p.x, p.low))]
        return (
          <>
            <polygon points={band.join(' ')} style={{ fill: `var(--${color})` }} />
            <polyline
              points={points.map(p => at(p.x, p.centre)).join(' ')}
              style={{ stroke: `var(--${color})` }}
            />
          </>
        )
      })}
    </svg>
  )
}

interface FigureProps {
  chart: Chart
  runs: readonly FinishedRun[]
}

const bestOfNFigure = ({ chart, runs }: FigureProps) => {
  const drawn = chart.arms.flatMap((arm, i) => {
    const points = bestOfN(runs.filter(run => run.arm === arm))
    return points.length > 0 ? [{ arm, points, color: COLORS[i] }] : []
  })
  if (drawn.length === 0) return null
  return (
    <Frame chart={chart} about="by samples a problem" arms={chart.arms}>
      <Lines arms={drawn} />
    </Frame>
  )
}

const criteriaOf = (run: FinishedRun, set: string | undefined): Record<string, number> => {
  const row = evalsOn(run, set).at(-1)
  return Object.fromEntries(
    Object.entries(row?.criteria ?? {}).flatMap(([id, value]) =>
      typeof value === 'number' ? [[id, value]] : [],
    ),
  )
}

/** Least width of a profile's line, so that differences of nothing look like nothing. */
const LEAST_WIDTH = 0.2

/** One line a criterion, on a scale of its own: differences between arms are small beside those between criteria. */
const ProfileRow = ({ id, arms }: { id: string; arms: readonly { mean: number; color: string }[] }) => {
  const means = arms.map(arm => arm.mean)
  const [least, most] = [Math.min(...means), Math.max(...means)]
  const width = Math.max(LEAST_WIDTH, 1.1 * (most - least))
  const low = (least + most - width) / 2
  return (
    <>
      <div>{id}</div>
      <div class="track">
        {arms.map(arm => {
          const left = `${((100 * (arm.mean - low)) / width).toFixed(2)}%`
          const background = `var(--${arm.color})`
          return <i class="mean" title={percent(arm.mean)} style={{ left, background }} key={arm.color} />
        })}
      </div>
      <div class="num">
        {percent(least)} to {percent(most)}
      </div>
    </>
  )
}

const profileFigure = ({ chart, runs }: FigureProps) => {
  const byArm = chart.arms.map(arm =>
    runs.filter(run => run.arm === arm).map(run => criteriaOf(run, chart.set)),
  )
  const ids = [...new Set(byArm.flat().flatMap(Object.keys))]
  if (ids.length === 0) return null
  const armsOf = (id: string) =>
    byArm.flatMap((own, i) => {
      const values = own.flatMap(criteria => criteria[id] ?? [])
      return values.length > 0 ? [{ mean: mean(values), color: COLORS[i] }] : []
    })
  return (
    <Frame chart={chart} about="means over runs; every line shows 20 points or more" arms={chart.arms}>
      <div class="dots-grid profile-grid">
        {ids.map(id => (
          <ProfileRow id={id} arms={armsOf(id)} key={id} />
        ))}
      </div>
    </Frame>
  )
}

/** The registered figures that there are runs for. */
export const paperFigures = ({ charts }: Registration, runs: readonly FinishedRun[]) =>
  charts.flatMap(chart => {
    const draw = chart.probe ? bestOfNFigure : chart.criteria ? profileFigure : () => null
    return draw({ chart, runs }) ?? []
  })
