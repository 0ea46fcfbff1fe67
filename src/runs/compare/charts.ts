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
import { HEALTH } from '../report/known-metrics.ts'
import { describeScore, headlineScores, scoreValue } from '../scores.ts'
import type { ComparedRun, RunGroup } from './groups.ts'

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
  points: ({ data }) => smoothed(curveOf(data.metrics, key), smoothingWindow(data.metrics.length)),
})

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

/** As many groups as have a colour each: the best by the first score; all where there are no more. */
export const shownGroups = (groups: readonly RunGroup[], scores: readonly (number | null)[]): RunGroup[] => {
  if (groups.length <= COLORS.length) return [...groups]
  const best = groups
    .map((group, i) => ({ group, score: scores[i] ?? Number.NEGATIVE_INFINITY }))
    .sort((a, b) => b.score - a.score)
    .slice(0, COLORS.length)
  const kept = new Set(best.map(({ group }) => group))
  return groups.filter(group => kept.has(group))
}

/** A chart for each figure that any of the runs has. @param band around the mean; from the lowest run to the highest where not given */
export const overlayCharts = (
  groups: readonly RunGroup[],
  band: (values: readonly number[]) => CurveBand = rangeBand,
): ChartSpec[] => {
  const overlays = [
    ...evaluationCurves(groups.flatMap(({ runs }) => runs)),
    trainingCurve('reward', 'Reward', 'number', 'mean of a step’s rollouts'),
    trainingCurve('heldOut', 'Held-out grader', 'number', 'unseen by training'),
    ...HEALTH.filter(({ exact }) => !exact).map(({ key, title, unit, about }) =>
      trainingCurve(key, title, unit, about),
    ),
    trainingCurve('loss', 'Loss', 'number'),
  ]
  return overlays.flatMap(({ id, title, about, unit, points }) => {
    const bands = groups.flatMap(({ label, runs }, i) => {
      const curves = runs.map(points).filter(curve => curve.length > 0)
      const drawn = bandOf(curves, band)
      return drawn.size > 0 ? [{ label, color: COLORS[i], band: drawn }] : []
    })
    if (
      bands.length === 0 ||
      bands.every(({ band: own }) => [...own.values()].every(({ high }) => high === 0))
    )
      return []
    return [{ id, title, about, unit, ...bandSeries(bands) }]
  })
}
