/** @file Curves of groups of runs over one another: the mean of a group's runs, and a band from the lowest to the highest. */

import { capitalised } from '../../util/format.ts'
import {
  bandChart,
  bandOf,
  COLORS,
  type CurveBand,
  type CurvePoint,
  curveOf,
  rangeBand,
  smoothed,
} from '../report/bands.ts'
import { type ChartSpec, smoothingWindow } from '../report/chart-spec.ts'
import { evalsOf, setNames } from '../report/data.ts'
import { HEALTH, metricOf } from '../report/known-metrics.ts'
import { describeScore, headlineScores, scoreValue } from '../scores.ts'
import type { ComparedRun, RunGroup } from './groups.ts'

/** Charts have as many groups: more curves than that nobody tells apart. */
export const MOST_COMPARED = 12

/** As many lines as nobody mistakes for one another, and two more. */
const GROUP_COLORS = [...COLORS, 'ink', 'before']

export const groupColor = (index: number): string => GROUP_COLORS[index % GROUP_COLORS.length]

interface Overlay extends Pick<ChartSpec, 'id' | 'title' | 'about' | 'unit'> {
  points(run: ComparedRun): CurvePoint[]
}

/** A metric of metrics.jsonl, or a criterion. */
const trainingCurve = (
  key: string,
  { title, unit, about }: Omit<Overlay, 'id' | 'points'> = metricOf(key),
): Overlay => ({
  ...{ id: `curve-${key}`, title, about, unit },
  points: ({ data }) => curveOf(data.metrics, key),
})

/** What charts are of first, and in reports alone: metrics that are measured. */
const FIRST = ['reward', 'heldOut', ...HEALTH.flatMap(({ key, exact }) => (exact ? [] : [key]))]

/** What is in any run's rows: plain metrics, then criteria. */
const allCurves = (groups: readonly RunGroup[]): Overlay[] => {
  const rows = groups.flatMap(({ runs }) => runs.flatMap(({ data }) => data.metrics))
  const names = new Set(FIRST)
  for (const row of rows)
    for (const name of Object.keys(row)) if (name !== 'step' && typeof row[name] === 'number') names.add(name)
  const criteria = new Set(rows.flatMap(row => Object.keys(row.criteria ?? {})))
  return [
    ...[...names].map(key => trainingCurve(key)),
    ...[...criteria].map(id =>
      trainingCurve(`criteria.${id}`, { title: id, unit: 'number', about: 'criterion' }),
    ),
  ]
}

/** Scores on the test sets, over the steps at which they were evaluated. */
const evaluationCurves = (runs: readonly ComparedRun[]): Overlay[] => {
  const sets = [...new Set(runs.flatMap(({ data }) => setNames(data)))]
  return sets.flatMap((set, at) => {
    const rows = runs.flatMap(({ data }) => evalsOf(data, set))
    return headlineScores(rows).map(score => ({
      id: `score-${at}-${score}`,
      title: capitalised(describeScore(score, rows)),
      about: set,
      unit: 'rate' as const,
      points: ({ data }: ComparedRun) =>
        evalsOf(data, set).flatMap(row => {
          const value = scoreValue(row, score)
          return value === null ? [] : [{ step: row.step, value }]
        }),
    }))
  })
}

/** As many groups as charts have: the best by the first score; all where there are no more. */
export const shownGroups = (groups: readonly RunGroup[], scores: readonly (number | null)[]): RunGroup[] => {
  const best = groups
    .map((group, i) => ({ group, score: scores[i] ?? Number.NEGATIVE_INFINITY }))
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST_COMPARED)
  const kept = new Set(best.map(({ group }) => group))
  return groups.filter(group => kept.has(group))
}

interface OverlayOptions {
  /** Around the mean; from the lowest run to the highest where not given. */
  band?: (values: readonly number[]) => CurveBand
  /** Of live runs: every metric there is, as it is, for the reader to smooth. */
  isLive?: boolean
}

/** A chart for each metric that any of the runs has. */
export const overlayCharts = (
  groups: readonly RunGroup[],
  { band = rangeBand, isLive = false }: OverlayOptions = {},
): ChartSpec[] => {
  const curves = (isLive ? allCurves(groups) : FIRST.map(key => trainingCurve(key))).map(own => ({
    ...own,
    points: (run: ComparedRun) =>
      isLive ? own.points(run) : smoothed(own.points(run), smoothingWindow(run.data.metrics.length)),
  }))
  const evaluations = evaluationCurves(groups.flatMap(({ runs }) => runs))
  return [...evaluations, ...curves].flatMap(({ id, title, about, unit, points }) => {
    const bands = groups.map(({ label, runs }, i) => {
      const known = runs.map(points).filter(curve => curve.length > 0)
      return { label, color: groupColor(i), band: bandOf(known, band) }
    })
    const isZero = bands.every(({ band: own }) => [...own.values()].every(({ high }) => high === 0))
    return isZero && !isLive ? [] : bandChart({ id, title, about, unit }, bands)
  })
}
