/** @file Curves of groups of runs over one another: the mean of a group's runs, and a band from the lowest to the highest. */

import { capitalised } from '../../util/format.ts'
import {
  bandOf,
  bandSeries,
  COLORS,
  type CurveBand,
  type CurvePoint,
  curveOf,
  rangeBand,
  smoothed,
} from '../report/bands.ts'
import type { ChartSpec, ChartUnit } from '../report/chart-spec.ts'
import { smoothingWindow } from '../report/chart-spec.ts'
import { evalsOf, setNames } from '../report/data.ts'
import { HEALTH, metricOf } from '../report/known-metrics.ts'
import { describeScore, headlineScores, scoreValue } from '../scores.ts'
import type { ComparedRun, RunGroup } from './groups.ts'

/** Charts have as many groups: more curves than that nobody tells apart. */
export const MOST_COMPARED = 12

/** As many lines as nobody mistakes for one another, and two more. */
const GROUP_COLORS = [...COLORS, 'ink', 'before']

export const groupColor = (index: number): string => GROUP_COLORS[index % GROUP_COLORS.length]

interface Overlay {
  id: string
  title: string
  about?: string
  unit: ChartUnit
  points(run: ComparedRun): CurvePoint[]
}

const trainingCurve = (key: string, title: string, unit: ChartUnit, about?: string): Overlay => ({
  id: `curve-${key}`,
  title,
  about,
  unit,
  points: ({ data }) => curveOf(data.metrics, key),
})

/** What is in any run's rows beside `known`: plain figures, then criteria. */
const otherCurves = (groups: readonly RunGroup[], known: readonly Overlay[]): Overlay[] => {
  const rows = groups.flatMap(({ runs }) => runs.flatMap(({ data }) => data.metrics))
  const names = new Set<string>()
  for (const row of rows)
    for (const name of Object.keys(row)) if (typeof row[name] === 'number') names.add(name)
  const criteria = new Set(rows.flatMap(row => Object.keys(row.criteria ?? {})))
  const shown = new Set(['curve-step', ...known.map(({ id }) => id)])
  return [
    ...[...names].map(key => {
      const { title, unit, about } = metricOf(key)
      return trainingCurve(key, title, unit, about)
    }),
    ...[...criteria].map(id => trainingCurve(`criteria.${id}`, id, 'number', 'criterion')),
  ].filter(({ id }) => !shown.has(id))
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
  /** Of live runs: every figure there is, as it is, for the reader to smooth. */
  isLive?: boolean
}

/** A chart for each figure that any of the runs has. */
export const overlayCharts = (
  groups: readonly RunGroup[],
  { band = rangeBand, isLive = false }: OverlayOptions = {},
): ChartSpec[] => {
  const training = [
    trainingCurve('reward', 'Reward', 'number', 'mean of a step’s rollouts'),
    trainingCurve('heldOut', 'Held-out grader', 'number', 'unseen by training'),
    ...HEALTH.filter(({ exact }) => !exact).map(({ key, title, unit, about }) =>
      trainingCurve(key, title, unit, about),
    ),
  ]
  const curves = [...training, ...(isLive ? otherCurves(groups, training) : [])].map(own => ({
    ...own,
    points: (run: ComparedRun) =>
      isLive ? own.points(run) : smoothed(own.points(run), smoothingWindow(run.data.metrics.length)),
  }))
  const evaluations = evaluationCurves(groups.flatMap(({ runs }) => runs))
  return [...evaluations, ...curves].flatMap(({ id, title, about, unit, points }) => {
    const bands = groups.flatMap(({ label, runs }, i) => {
      const known = runs.map(points).filter(curve => curve.length > 0)
      const drawn = bandOf(known, band)
      return drawn.size > 0 ? [{ label, color: groupColor(i), band: drawn }] : []
    })
    const isZero = bands.every(({ band: own }) => [...own.values()].every(({ high }) => high === 0))
    if (bands.length === 0 || (isZero && !isLive)) return []
    return [{ id, title, about, unit, ...bandSeries(bands) }]
  })
}
