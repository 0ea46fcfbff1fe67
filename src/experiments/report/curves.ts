/** @file Curves of the arms: means over starts and seeds, with 95% intervals over the runs. */

import {
  armChart,
  bandChart,
  bandOf,
  COLORS,
  type CurvePoint,
  curveOf,
  smoothed,
} from '../../runs/report/bands.ts'
import type { ChartSpec } from '../../runs/report/chart-spec.ts'
import { scoreOf } from '../metrics/evaluation.ts'
import { evalsOn, type FinishedRun } from '../metrics/index.ts'
import type { Registration } from '../plan/registration.ts'

type Chart = Registration['charts'][number]

type CurveRun = Pick<FinishedRun, 'arm' | 'steps' | 'metrics' | 'evals'>

/**
 * Shares that evaluations on fewer problems are read as (`onAllProblems`) are a sum, and may come to lie beyond 0 and 1, where no share
 * is. Scores with penalties have values below 0, which are drawn: so far down as a run was evaluated on all problems.
 */
const withinScale = (points: readonly (CurvePoint & { n: number })[]): CurvePoint[] => {
  const all = Math.max(...points.map(({ n }) => n))
  const low = Math.min(0, ...points.flatMap(({ n, value }) => (n === all ? [value] : [])))
  return points.map(({ step, value }) => ({ step, value: Math.min(1, Math.max(low, value)) }))
}

const pointsOf = (run: CurveRun, { curve, set, score, unit }: Chart): CurvePoint[] => {
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

/** What a chart needs of runs, run by run: so many of them need not be in memory together. */
export class ArmCurves {
  readonly #charts: readonly { chart: Chart; id: string; byArm: Map<string, CurvePoint[][]> }[]

  /** @param registration whose charts over steps are drawn */
  constructor({ charts }: Pick<Registration, 'charts'>) {
    this.#charts = charts.flatMap((chart, index) =>
      chart.probe || chart.criteria ? [] : [{ chart, id: `curve-${index}`, byArm: new Map() }],
    )
  }

  add(run: CurveRun): void {
    for (const { chart, byArm } of this.#charts) {
      if (!chart.arms.includes(run.arm)) continue
      byArm.set(run.arm, [...(byArm.get(run.arm) ?? []), pointsOf(run, chart)])
    }
  }

  /** The charts that there are runs for; an arm says how many runs its curve is the mean of. */
  get charts(): ChartSpec[] {
    return this.#charts.flatMap(({ chart, id, byArm }) => {
      const bands = chart.arms.map((arm, i) => {
        const own = (byArm.get(arm) ?? []).filter(points => points.length > 0)
        return { label: `${arm}, n = ${own.length}`, color: COLORS[i], band: bandOf(own) }
      })
      const unit = chart.unit === 'share' ? 'rate' : 'number'
      return bandChart({ id, title: chart.title, unit }, bands).map(armChart)
    })
  }
}

/** The registered charts that there are runs for. */
export const paperCharts = (registration: Registration, runs: readonly FinishedRun[]): ChartSpec[] => {
  const curves = new ArmCurves(registration)
  for (const run of runs) curves.add(run)
  return curves.charts
}
