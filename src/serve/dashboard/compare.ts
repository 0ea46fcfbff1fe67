/** @file Several runs side by side: their curves in one chart each, paired differences of evaluations, settings that differ. */

import { type ChartSpec, roundForPage } from '../../runs/report/chart-spec.ts'
import { contentsOf, describeDigest, flatSettings } from '../../runs/report/compare.ts'
import { metricOf } from '../../runs/report/known-metrics.ts'
import { pairedDifference } from '../../runs/report/paired.ts'
import type { EvalRow, MetricsRow } from '../../runs/rows.ts'
import { isScoreShared } from '../../runs/same-rubric.ts'
import { describeScore, scoreNamesOf, scoreValue } from '../../runs/scores.ts'
import type { OpenRun } from './open-run.ts'
import type { ComparedScore, CompareView, RunSummary } from './wire.ts'

/** Runs in one comparison: more curves than that nobody tells apart. */
export const MOST_COMPARED = 12
const POINTS = 250
const COLORS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'ink', 'before']
/** Curves that come first. */
const FIRST = ['reward', 'heldOut', 'accuracy', 'entropy', 'kl', 'responseTokens', 'zeroVarianceGroups']

type Read = (row: MetricsRow) => unknown

const overlay = (
  runs: readonly { name: string; rows: MetricsRow[] }[],
  spec: Pick<ChartSpec, 'id' | 'title' | 'unit' | 'about'>,
  read: Read,
): ChartSpec[] => {
  const having = runs.flatMap((run, i) => {
    const values = new Map(
      run.rows.flatMap(row => {
        const value = read(row)
        return typeof value === 'number' ? [[row.step, roundForPage(value)] as const] : []
      }),
    )
    return values.size === 0 ? [] : [{ name: run.name, color: COLORS[i % COLORS.length], values }]
  })
  if (having.length === 0) return []
  const x = [...new Set(having.flatMap(({ values }) => [...values.keys()]))].sort((a, b) => a - b)
  const series = having.map(({ name, color, values }) => ({
    ...{ label: name, color, kind: 'line' as const },
    values: x.map(step => values.get(step) ?? null),
  }))
  return [{ ...spec, x, series }]
}

const chartsOf = (runs: readonly OpenRun[]): ChartSpec[] => {
  const read = runs.map(({ found, metrics }) => ({ name: found.name, rows: metrics.rows(POINTS).rows }))
  const names = runs.flatMap(({ metrics }) => metrics.names())
  const single = [...new Set(names.flatMap(({ key, name }) => (name === null ? [key] : [])))]
  const ordered = [
    ...FIRST.filter(key => single.includes(key)),
    ...single.filter(key => !FIRST.includes(key)),
  ]
  const criteria = [...new Set(names.flatMap(({ key, name }) => (key === 'criteria' && name ? [name] : [])))]
  return [
    ...ordered.flatMap(key => {
      const { title, unit, about } = metricOf(key)
      return overlay(read, { id: `compare-${key}`, title, unit, about }, row => row[key])
    }),
    ...criteria.flatMap(id =>
      overlay(
        read,
        { id: `compare-criterion-${id}`, title: id, unit: 'number', about: 'criterion' },
        row => row.criteria?.[id],
      ),
    ),
  ]
}

/** The latest evaluation of a run on each of its sets. */
const latestEvals = (run: OpenRun): Map<string, EvalRow> => {
  const places = new Map(run.evals.map(({ set }, index) => [set, index]))
  const rows = run.wholeEvals([...places.values()])
  return new Map(rows.map(row => [row.set, row]))
}

/** Each run against the first, over the problems that both have. */
const scoresOf = (runs: readonly OpenRun[]): ComparedScore[] => {
  const latest = runs.map(latestEvals)
  const [first] = latest
  return [...first].flatMap(([set, row]) =>
    scoreNamesOf([row]).map(score => ({
      set,
      score: describeScore(score, [row]),
      runs: latest.map((evals, i) => {
        const other = evals.get(set)
        const otherRubric = !isScoreShared(runs[0].info, runs[i].info, score)
        const paired = i === 0 || otherRubric ? null : pairedDifference(row, other, score)
        return { value: scoreValue(other, score), step: other?.step ?? null, paired, otherRubric }
      }),
    })),
  )
}

const settingsOf = (runs: readonly OpenRun[]): CompareView['settings'] => {
  const flat = runs.map(
    ({ info: { config, files = [] } }) =>
      new Map([
        ...flatSettings(config),
        ...files.map(({ path, sha256 }) => [contentsOf(path), describeDigest(sha256)] as const),
      ]),
  )
  const names = [...new Set(flat.flatMap(own => [...own.keys()]))]
  return names.flatMap(name => {
    const values = flat.map(own => (own.has(name) ? (JSON.stringify(own.get(name)) ?? null) : null))
    return new Set(values).size > 1 ? [{ name, values }] : []
  })
}

export const compareView = (runs: readonly OpenRun[], summaries: RunSummary[]): CompareView => ({
  runs: summaries,
  charts: chartsOf(runs),
  scores: scoresOf(runs),
  settings: settingsOf(runs),
})
