/** @file Curves of the arms: means over starts and seeds, with bands. */

import { bandOf, bandSeries, COLORS, type CurvePoint, curveOf, smoothed } from '../../runs/report/bands.ts'
import type { ChartSpec } from '../../runs/report/chart-spec.ts'
import { scoreOf } from '../metrics/evaluation.ts'
import { evalsOn, type FinishedRun } from '../metrics/index.ts'
import type { Registration } from '../plan/registration.ts'

type Chart = Registration['charts'][number]

const pointsOf = (run: FinishedRun, { curve, set, score }: Chart): CurvePoint[] => {
  if (curve !== undefined) {
    const everyStep = Array.from({ length: run.steps }, (_, i) => i + 1)
    return smoothed(curveOf(run.metrics, curve), Math.max(1, Math.round(run.steps / 40) | 1), everyStep)
  }
  return evalsOn(run, set).flatMap(row => {
    const value = scoreOf(row, score)
    return value === null ? [] : [{ step: row.step, value }]
  })
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
