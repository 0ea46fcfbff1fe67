/** @file Curves of the arms: means over starts and seeds, with bands. */

import { type ChartSeries, type ChartSpec, roundForPage } from '../../runs/report/chart-spec.ts'
import { type CurvePoint, curveOf, smoothed } from '../metrics/curves.ts'
import { scoreOf } from '../metrics/evaluation.ts'
import { evalsOn, type FinishedRun } from '../metrics/index.ts'
import type { Registration } from '../plan/registration.ts'
import { type Band, COLORS, meanBand } from './band.ts'

type Chart = Registration['charts'][number]

/** About a hundred and fifty points a curve are more than the eye tells apart. */
const POINTS = 150

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

/** Mean over runs by step, with its interval. Steps that fewer than half of the runs have are left out. */
export const bandOf = (curves: readonly (readonly CurvePoint[])[]): Map<number, Band> => {
  const bySteps = new Map<number, number[]>()
  for (const curve of curves)
    for (const { step, value } of curve) bySteps.set(step, [...(bySteps.get(step) ?? []), value])
  return new Map(
    [...bySteps]
      .filter(([, values]) => 2 * values.length >= curves.length)
      .map(([step, values]) => [step, meanBand(values)]),
  )
}

const thinned = (steps: readonly number[]): number[] => {
  const every = Math.ceil(steps.length / POINTS)
  return steps.filter((_, i) => i % every === 0 || i === steps.length - 1)
}

const chartOf = (chart: Chart, index: number, runs: readonly FinishedRun[]): ChartSpec[] => {
  const bands = chart.arms.flatMap((arm, i) => {
    const own = runs.filter(run => run.arm === arm)
    const band = bandOf(own.map(run => pointsOf(run, chart)))
    return band.size > 0 ? [{ arm, color: COLORS[i], band }] : []
  })
  if (bands.length === 0) return []
  const x = thinned([...new Set(bands.flatMap(({ band }) => [...band.keys()]))].sort((a, b) => a - b))
  const series: ChartSeries[] = bands.map(({ arm, color, band }) => {
    const column = (pick: 'centre' | 'low' | 'high') => x.map(step => roundForPage(band.get(step)?.[pick]))
    return {
      label: arm,
      color,
      kind: 'band',
      values: column('centre'),
      low: column('low'),
      high: column('high'),
    }
  })
  const unit = chart.unit === 'share' ? 'rate' : 'number'
  return [{ id: `curve-${index}`, title: chart.title, unit, x, series }]
}

/** The registered charts that there are runs for. */
export const paperCharts = ({ charts }: Registration, runs: readonly FinishedRun[]): ChartSpec[] =>
  charts.flatMap((chart, index) => (chart.probe || chart.criteria ? [] : chartOf(chart, index, runs)))
