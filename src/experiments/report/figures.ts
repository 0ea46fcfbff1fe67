/** @file Figures that are no curves over steps: best-of-N over N, and profiles of criteria by arm. */

import { COLORS, type CurveBand, meanBand } from '../../runs/report/bands.ts'
import { type Html, html, raw } from '../../runs/report/html.ts'
import { percent } from '../../util/format.ts'
import { mean } from '../../util/statistics.ts'
import { evalsOn, type FinishedRun } from '../metrics/index.ts'
import type { ProbeResults } from '../metrics/probed.ts'
import type { Registration } from '../plan/registration.ts'

type Chart = Registration['charts'][number]

interface Point extends CurveBand {
  x: number
}

const legend = (arms: readonly string[]): Html =>
  html`<span class="legend">${arms.map((arm, i) => html`<span><i style="background:var(--${COLORS[i]})"></i>${arm}</span>`)}</span>`

const frame = (title: string, about: string, arms: readonly string[], inside: Html): Html =>
  html`<figure class="panel"><figcaption><span class="name">${title}<small>${about}</small></span>${legend(arms)}</figcaption>${inside}</figure>`

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
const lines = (arms: readonly { points: readonly Point[]; color: string }[]): Html => {
  const all = arms.flatMap(({ points }) => points)
  const [low, high] = [Math.min(...all.map(p => p.low)), Math.max(...all.map(p => p.high))]
  const last = Math.log2(Math.max(2, ...all.map(({ x }) => x)))
  const x = (n: number) => EDGE.left + (Math.log2(n) / last) * (WIDTH - EDGE.left - EDGE.right)
  const y = (value: number) =>
    EDGE.top + ((high - value) / (high - low || 1)) * (HEIGHT - EDGE.top - EDGE.bottom)
  const at = (n: number, value: number) => `${x(n).toFixed(1)},${y(value).toFixed(1)}`
  const ticks = [0, 1, 2, 3].map(i => low + (i / 3) * (high - low))
  const grid = ticks.map(
    value =>
      html`<line x1="${EDGE.left}" x2="${WIDTH - EDGE.right}" y1="${y(value)}" y2="${y(value)}"/><text x="${EDGE.left - 6}" y="${y(value) + 4}" text-anchor="end">${percent(value)}</text>`,
  )
  const ns = [...new Set(all.map(p => p.x))]
  const labels = ns.map(n => html`<text x="${x(n)}" y="${HEIGHT - 6}" text-anchor="middle">${n}</text>`)
  const drawn = arms.map(({ points, color }) => {
    const band = [...points.map(p => at(p.x, p.high)), ...points.toReversed().map(p => at(p.x, p.low))]
    return html`<polygon points="${band.join(' ')}" style="fill:var(--${color})"/><polyline points="${points.map(p => at(p.x, p.centre)).join(' ')}" style="stroke:var(--${color})"/>`
  })
  return html`<svg class="lines" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">${grid}${labels}${drawn}</svg>`
}

const bestOfNFigure = ({ title, arms }: Chart, runs: readonly FinishedRun[]): Html | null => {
  const drawn = arms.flatMap((arm, i) => {
    const points = bestOfN(runs.filter(run => run.arm === arm))
    return points.length > 0 ? [{ arm, points, color: COLORS[i] }] : []
  })
  return drawn.length === 0 ? null : frame(title, 'by samples a problem', arms, lines(drawn))
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
const profileRow = (id: string, arms: readonly { mean: number; color: string }[]): Html => {
  const means = arms.map(arm => arm.mean)
  const [least, most] = [Math.min(...means), Math.max(...means)]
  const width = Math.max(LEAST_WIDTH, 1.1 * (most - least))
  const low = (least + most - width) / 2
  const dots = arms.map(arm => {
    const place = raw(`${((100 * (arm.mean - low)) / width).toFixed(2)}%`)
    return html`<i class="mean" title="${percent(arm.mean)}" style="left:${place};background:var(--${arm.color})"></i>`
  })
  return html`<div>${id}</div><div class="track">${dots}</div><div class="num">${percent(least)} to ${percent(most)}</div>`
}

const profileFigure = ({ title, arms, set }: Chart, runs: readonly FinishedRun[]): Html | null => {
  const byArm = arms.map(arm => runs.filter(run => run.arm === arm).map(run => criteriaOf(run, set)))
  const ids = [...new Set(byArm.flat().flatMap(Object.keys))]
  if (ids.length === 0) return null
  const rows = ids.map(id => {
    const found = byArm.flatMap((own, i) => {
      const values = own.flatMap(criteria => criteria[id] ?? [])
      return values.length > 0 ? [{ mean: mean(values), color: COLORS[i] }] : []
    })
    return profileRow(id, found)
  })
  return frame(
    title,
    'means over runs; every line shows 20 points or more',
    arms,
    html`<div class="dots-grid profile-grid">${rows}</div>`,
  )
}

/** The registered figures that there are runs for. */
export const paperFigures = ({ charts }: Registration, runs: readonly FinishedRun[]): Html[] =>
  charts.flatMap(chart => {
    const drawn = chart.probe
      ? bestOfNFigure(chart, runs)
      : chart.criteria
        ? profileFigure(chart, runs)
        : null
    return drawn === null ? [] : [drawn]
  })
