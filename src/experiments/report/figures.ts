/** @file Figures that are no curves over steps: best-of-N over N, and profiles of criteria by arm. */

import { bandChart, bandOf, COLORS, type CurvePoint } from '../../runs/report/bands.ts'
import type { ChartSpec } from '../../runs/report/chart-spec.ts'
import type { Block, TrackLine } from '../../runs/report/view.ts'
import { percent } from '../../util/format.ts'
import { mean } from '../../util/statistics.ts'
import { evalsOn, type FinishedRun } from '../metrics/index.ts'
import type { ProbeResults } from '../metrics/probed.ts'
import type { Registration } from '../plan/registration.ts'

type Chart = Registration['charts'][number]

/** Best-of-N of a run over N. */
const bestOfN = ({ probes }: FinishedRun): CurvePoint[] => {
  const { curve } = (probes['best-of-n'] as ProbeResults['best-of-n'] | undefined) ?? { curve: [] }
  return curve.map(({ n, score }) => ({ step: n, value: score }))
}

/** The registered charts over samples that there are runs for: means with their intervals. */
export const probeCharts = ({ charts }: Registration, runs: readonly FinishedRun[]): ChartSpec[] =>
  charts.flatMap(({ probe, title, arms }, index) => {
    const bands = arms.map((label, i) => {
      const own = runs.filter(({ arm }) => probe && arm === label).map(bestOfN)
      return { label, color: COLORS[i], band: bandOf(own.filter(points => points.length > 0)) }
    })
    const about = 'by samples a problem'
    return bandChart({ id: `probe-${index}`, title, about, unit: 'rate', over: 'sample' }, bands)
  })

const criteriaOf = (run: FinishedRun, set: string | undefined): Record<string, number> => {
  const { criteria = {} } = evalsOn(run, set).at(-1) ?? {}
  return Object.fromEntries(
    Object.entries(criteria).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}

/** Least width of a profile's line, so that differences of nothing look like nothing. */
const LEAST_WIDTH = 0.2

/** One line a criterion, on a scale of its own: differences between arms are small beside those between criteria. */
const profileLine = (id: string, arms: readonly { mean: number; color: string }[]): TrackLine => {
  const means = arms.map(arm => arm.mean)
  const [least, most] = [Math.min(...means), Math.max(...means)]
  const width = Math.max(LEAST_WIDTH, 1.1 * (most - least))
  const low = (least + most - width) / 2
  const marks = arms.map(arm => ({
    ...{ class: 'mean', at: (arm.mean - low) / width, color: arm.color, title: percent(arm.mean) },
  }))
  return { name: id, marks, value: `${percent(least)} to ${percent(most)}` }
}

const profileFigure = ({ title, arms, set }: Chart, runs: readonly FinishedRun[]): Block => {
  const byArm = arms.map(arm => runs.filter(run => run.arm === arm).map(run => criteriaOf(run, set)))
  const armsOf = (id: string) =>
    byArm.flatMap((own, i) => {
      const values = own.flatMap(criteria => criteria[id] ?? [])
      return values.length > 0 ? [{ mean: mean(values), color: COLORS[i] }] : []
    })
  const ids = [...new Set(byArm.flat().flatMap(Object.keys))]
  const blocks: Block[] = [
    'Means over runs; every line shows 20 points or more.',
    { kind: 'key', colors: arms.map((arm, i) => [COLORS[i], arm]) },
    { kind: 'lines', lines: ids.map(id => profileLine(id, armsOf(id))) },
  ]
  return { kind: 'panel', title, blocks }
}

/** The registered profiles of criteria that there are runs for. */
export const profileFigures = ({ charts }: Registration, runs: readonly FinishedRun[]): Block[] =>
  charts.flatMap(chart => {
    const has =
      chart.criteria &&
      runs.some(run => chart.arms.includes(run.arm) && Object.keys(criteriaOf(run, chart.set)).length > 0)
    return has ? [profileFigure(chart, runs)] : []
  })
