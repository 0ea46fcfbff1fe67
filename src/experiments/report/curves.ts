/** @file Curves of the arms: means over starts and seeds, with bands. */

import { bandOf, bandSeries, COLORS, type CurvePoint, curveOf, smoothed } from '../../runs/report/bands.ts'
import type { ChartSpec } from '../../runs/report/chart-spec.ts'
import { scoreOf } from '../metrics/evaluation.ts'
import { evalsOn, type FinishedRun } from '../metrics/index.ts'
import type { Registration } from '../plan/registration.ts'

type Chart = Registration['charts'][number]

/**
 * Shares that evaluations on fewer problems are read as (`onAllProblems`) are a sum, and may come to lie beyond 0 and 1, where no share
 * is. Scores with penalties have values below 0, which are drawn: so far down as a run was evaluated on all problems.
 */
const withinScale = (points: readonly (CurvePoint & { n: number })[]): CurvePoint[] => {
  const all = Math.max(...points.map(({ n }) => n))
  const low = Math.min(0, ...points.flatMap(({ n, value }) => (n === all ? [value] : [])))
  return points.map(({ step, value }) => ({ step, value: Math.min(1, Math.max(low, value)) }))
}

const pointsOf = (run: FinishedRun, { curve, set, score, unit }: Chart): CurvePoint[] => {
  if (curve !== undefined) {
    const everyStep = Array.from({ length: run.steps }, (_, i) => i + 1)
    return smoothed(curveOf(run.metrics, curve), Math.max(1, Math.round(run.steps / 40) | 1), everyStep)
  }
  const points = evalsOn(run, set).flatMap(row => {
    const value = scoreOf(row, score)
    return value === null ? [] : [{ step: row.step, value, n: row.n }]
  })
  return unit === 'share' ? withinScale(points) : points
}

const chartOf = (chart: Chart, index: number, runs: readonly FinishedRun[]): ChartSpec[] => {
  const bands = chart.arms.flatMap((arm, i) => {
    const own = runs.filter(run => run.arm === arm)
    const band = bandOf(own.map(run => pointsOf(run, chart)))
    return band.size > 0 ? [{ label: arm, color: COLORS[i], band }] : []
  })
  if (bands.length === 0) return []
  const { x, series } = bandSeries(bands)
  const unit = chart.unit === 'share' ? 'rate' : 'number'
  return [{ id: `curve-${index}`, title: chart.title, unit, x, series }]
}

/** The registered charts that there are runs for. */
export const paperCharts = ({ charts }: Registration, runs: readonly FinishedRun[]): ChartSpec[] =>
  charts.flatMap((chart, index) => (chart.probe || chart.criteria ? [] : chartOf(chart, index, runs)))
