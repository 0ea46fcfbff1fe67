/** @file Two runs side by side: last metrics, evaluations, and paired differences where the test problems agree. */

import { mean } from '../../util/descriptive.ts'
import { number, percent, points, pointsInterval } from '../../util/format.ts'
import { ownValue } from '../../util/own-value.ts'
import { flatSettings, leafEntries } from '../leaves.ts'
import type { CriterionChange, EvalRow, MetricsRow, RunInfo } from '../rows.ts'
import { isCriterionShared, isMetricShared, isScoreShared } from '../same-rubric.ts'
import { describeScore, scoreNamesOf, scoreValue } from '../scores.ts'
import {
  criterionLabel,
  evalsOf,
  isTax,
  loadReportData,
  type ReportData,
  setNames,
  totalsOf,
} from './data.ts'
import { alignedTable } from './page-text.ts'
import { type PairedDifference, pairedCriterion, pairedDifference } from './paired.ts'

/** By other rubrics, so that the two do not compare. */
type Rubrics = { otherRubric?: true }

const OTHER: Rubrics = { otherRubric: true }

/** A score or a criterion of the last evaluations of two runs on a set. */
interface PairedComparison extends Rubrics {
  set: string
  /** What the runs themselves call it. */
  label: string
  a: number | null
  b: number | null
  /** b - a over the problems that both evaluated; null when they share none, and where rubrics differ. */
  paired: PairedDifference | null
}

/** A path, and the values there in two configurations. */
export interface SettingDifference {
  name: string
  a: unknown
  b: unknown
}

/** Means over the last tenth of the steps, by dotted name. */
export const finalMeans = (rows: readonly MetricsRow[]): Map<string, number> => {
  const values = new Map<string, number[]>()
  for (const { step: _, ...row } of rows.slice(-Math.max(1, Math.round(rows.length / 10))))
    for (const [name, value] of leafEntries(row, '.')) {
      const own = values.get(name) ?? []
      if (typeof value === 'number') values.set(name, own).get(name)!.push(value)
    }
  return new Map([...values].map(([name, own]) => [name, mean(own)]))
}

/** Null where a run does not record a metric. */
const compareMetrics = (a: ReportData, b: ReportData) => {
  const [meansA, meansB] = [finalMeans(a.metrics), finalMeans(b.metrics)]
  return [...new Set([...meansA.keys(), ...meansB.keys()])].map(name => ({
    name,
    a: meansA.get(name) ?? null,
    b: meansB.get(name) ?? null,
    ...(isMetricShared(a.info, b.info, name) ? {} : OTHER),
  }))
}

/** The last evaluations of two runs on each set that both have. */
const lastRows = (a: ReportData, b: ReportData): [set: string, a: EvalRow, b: EvalRow][] =>
  setNames(a).flatMap(set => {
    const [rowA, rowB] = [a, b].map(data => evalsOf(data, set).at(-1))
    return rowA && rowB ? [[set, rowA, rowB]] : []
  })

/** What two runs have of a score or a criterion, paired where it means the same in both. */
const pairedWhere = (
  isShared: boolean,
  paired: () => PairedDifference | null,
): Pick<PairedComparison, 'paired' | 'otherRubric'> =>
  isShared ? { paired: paired() } : { paired: null, ...OTHER }

/** The primary score comes first. */
const compareEvals = (a: ReportData, b: ReportData) =>
  lastRows(a, b).flatMap(([set, ...rows]) =>
    scoreNamesOf(rows).flatMap(score => {
      const [valueA, valueB] = rows.map(row => scoreValue(row, score))
      if (valueA === null || valueB === null) return []
      const own = { set, score, label: describeScore(score, rows), a: valueA, b: valueB }
      const isShared = isScoreShared(a.info, b.info, score)
      return { ...own, ...pairedWhere(isShared, () => pairedDifference(...rows, score)) }
    }),
  )

/** With the change of each run since its own start; null where the run did not work it out. */
const compareCriteria = (a: ReportData, b: ReportData) =>
  lastRows(a, b).flatMap(([set, ...rows]) => {
    const [rowA, rowB] = rows
    if (rowA.criteria === undefined || rowB.criteria === undefined) return []
    return [...new Set(rows.flatMap(row => Object.keys(row.criteria!)))].map(criterion => ({
      ...{ set, criterion, label: criterionLabel(a.info, criterion) },
      a: ownValue(rowA.criteria, criterion) ?? null,
      b: ownValue(rowB.criteria, criterion) ?? null,
      ...pairedWhere(isCriterionShared(a.info, b.info, criterion), () => pairedCriterion(...rows, criterion)),
      sinceStart: { a: ownValue(rowA.tax, criterion) ?? null, b: ownValue(rowB.tax, criterion) ?? null },
    }))
  })

/** What a file held, where settings stand by name. */
export const contentsOf = (path: string): string => `contents of ${path}`

export const describeDigest = (sha256: string): string => `SHA-256 ${sha256.slice(0, 12)}`

/** Files of rows and rubrics that both runs name alike, and that were not the same: scores by two rubrics do not compare. */
const otherContents = ({ files: a = [] }: RunInfo, { files: b = [] }: RunInfo): SettingDifference[] =>
  a.flatMap(({ path, sha256 }) => {
    const other = b.find(file => file.path === path && file.sha256 !== sha256)
    return other
      ? [{ name: contentsOf(path), a: describeDigest(sha256), b: describeDigest(other.sha256) }]
      : []
  })

/** Settings that differ between two configurations, by dotted path. */
export const differentSettings = (a: unknown, b: unknown): SettingDifference[] => {
  const [settingsA, settingsB] = [new Map(flatSettings(a)), new Map(flatSettings(b))]
  return [...new Set([...settingsA.keys(), ...settingsB.keys()])]
    .map(name => ({ name, a: settingsA.get(name), b: settingsB.get(name) }))
    .filter(({ a: x, b: y }) => JSON.stringify(x) !== JSON.stringify(y))
}

const summarise = (data: ReportData) => ({
  id: data.info.id,
  seed: data.info.seed ?? null,
  steps: data.metrics.at(-1)?.step ?? 0,
  trainSeconds: totalsOf(data).seconds,
})

const comparisonOf = (a: ReportData, b: ReportData) => ({
  a: summarise(a),
  b: summarise(b),
  metrics: compareMetrics(a, b),
  evals: compareEvals(a, b),
  criteria: compareCriteria(a, b),
  settings: [...differentSettings(a.info.config, b.info.config), ...otherContents(a.info, b.info)],
})

/** Metrics are means over the last tenth of each run's steps, evaluations and their criteria the last ones. */
export type RunComparison = ReturnType<typeof comparisonOf>

/** A setting as it stands in a table; `–` where there is none. */
const settingText = (value: unknown): string => (value === undefined ? '–' : JSON.stringify(value))

const intervalText = (paired: PairedDifference | null): string =>
  paired ? `${pointsInterval(paired.interval)} (${paired.n} pairs)` : 'unpaired'

const changeText = (change: CriterionChange | null): string =>
  change === null
    ? '–'
    : `${points(change.change)} [${pointsInterval(change.interval)}]${isTax(change) ? ' tax' : ''}`

/** A row of a table: both values, their difference, and how sure it is. */
const differenceRow = ({ set, label, a, b, paired, otherRubric }: PairedComparison): string[] => [
  `${set}: ${label}`,
  percent(paired?.before ?? a),
  percent(paired?.after ?? b),
  a === null || b === null || otherRubric ? '–' : points(paired?.difference ?? b - a),
  otherRubric ? 'another rubric' : intervalText(paired),
]

/** Tables of a comparison, the first row of each its head. */
const tablesOf = ({ a, b, evals, criteria, metrics, settings }: RunComparison): string[][][] => {
  const runs = [a.id, b.id]
  const changed = criteria.filter(({ sinceStart }) => sinceStart.a !== null || sinceStart.b !== null)
  return [
    [['evaluation', ...runs, 'points', '95% interval'], ...evals.map(differenceRow)],
    [['criterion', ...runs, 'points', '95% interval'], ...criteria.map(differenceRow)],
    [
      ['change since the start, points [95%]', ...runs],
      ...changed.map(({ set, label, sinceStart }) => [
        ...[`${set}: ${label}`, changeText(sinceStart.a), changeText(sinceStart.b)],
      ]),
    ],
    [
      ['metric, last tenth', ...runs, 'difference'],
      ...metrics.map(({ name, a: x, b: y, otherRubric }) => [
        ...[name, number(x), number(y)],
        otherRubric ? 'another rubric' : x === null || y === null ? '–' : number(y - x),
      ]),
    ],
    [['setting', ...runs], ...settings.map(({ name, a: x, b: y }) => [name, settingText(x), settingText(y)])],
  ]
}

/** A comparison without the tables that have no rows. */
const render = (comparison: RunComparison): string => {
  const tables = tablesOf(comparison).filter(({ length }) => length > 1)
  if (tables.length === 0) return 'No metric that both runs have, and no setting in which they differ.\n'
  return `${tables.map(alignedTable).join('\n\n')}\n`
}

/**
 * Compares two runs: `b - a` throughout. Evaluations are paired over problems with the same id; the text shows their metrics over
 * these.
 * @throws RunError when one of them is no run
 */
export const compareRuns = (dirA: string, dirB: string): { text: string; json: RunComparison } => {
  const json = comparisonOf(loadReportData(dirA), loadReportData(dirB))
  return { text: render(json), json }
}
