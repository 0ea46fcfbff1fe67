/** @file What judges did in a run: every metric of calls, waiting, failures and spend that its rows have. */

import { type ChartSpec, type ChartUnit, roundForPage } from '../../runs/report/chart-spec.ts'
import { knownMetric } from '../../runs/report/known-metrics.ts'
import {
  type PageSection,
  type PageView,
  plainView,
  type TableView,
  tableSection,
} from '../../runs/report/view.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import { meanKnown } from '../../util/descriptive.ts'
import { capitalised, number, percent } from '../../util/format.ts'
import type { OpenRun } from './open-run.ts'

const ABOUT_JUDGES = /judge|verifier|verdict|unjudged|failedScor|failedGen/i
const POINTS = 400
/** Metrics that count, so that their sum says something. */
const COUNTS = /(?:CallCount|FailedCalls|Calls)$/

/** What `judgeMetrics` of the recipes calls them. */
const ENDINGS: readonly [RegExp, string][] = [
  [/CallCount$/, 'calls'],
  [/CachedShare$/, 'share answered without a call'],
  [/FailedCalls$/, 'calls without a usable answer'],
  [/Calls$/, 'seconds of all calls'],
  [/Call$/, 'seconds of a call'],
]

/** `heldOutJudgeCallCount` -> `Held out judge: calls`. */
const words = (name: string): string => {
  const spaced = (text: string) => text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  const ending = ENDINGS.find(([pattern]) => pattern.test(name))
  return capitalised(
    ending === undefined ? spaced(name) : `${spaced(name.replace(ending[0], ''))}: ${ending[1]}`,
  )
}

/** What a metric is called: as in the report, where that knows it. */
const calledOf = (key: string, name: string | null): { title: string; unit: ChartUnit } =>
  (name === null ? knownMetric(key) : undefined) ?? {
    title: words(name ?? key),
    unit: /CachedShare$/.test(name ?? key) ? 'rate' : 'number',
  }

/** Each metric as a row of the table and as a chart. */
const metricsOf = ({ metrics }: OpenRun): { cells: string[]; chart: ChartSpec }[] => {
  const { rows } = metrics.rows(POINTS)
  const found = metrics
    .names()
    .filter(({ key, name }) =>
      ABOUT_JUDGES.test(name === null || key === 'criteria' ? key : `${key}.${name}`),
    )
  return found.flatMap(({ key, name }) => {
    const values = rows.map(row => {
      const value = name === null ? row[key] : (row[key] as MetricGroup | undefined)?.[name]
      return typeof value === 'number' ? roundForPage(value) : null
    })
    const mean = meanKnown(values)
    if (mean === null) return []
    const { title, unit } = calledOf(key, name)
    const text = unit === 'share' || unit === 'rate' ? percent : number
    const last = values.findLast(value => value !== null)
    const total = COUNTS.test(name ?? key) ? metrics.total(key, name ?? undefined) : null
    const chart: ChartSpec = {
      ...{ id: `judge-${key}-${name ?? ''}`, title, unit, x: rows.map(row => row.step) },
      series: [{ label: title, color: 'c1', kind: 'line', values }],
    }
    return [
      { cells: [title, text(mean), text(last), total === null ? '' : number(Math.round(total))], chart },
    ]
  })
}

const evaluationTable = ({ evals }: OpenRun): TableView => ({
  head: ['Step', { name: 'Set', kind: 'item' }, 'Calls', 'Missing verdicts'],
  rows: evals.flatMap(({ step, set, judgeCalls, judgeNullRate }) =>
    judgeCalls === undefined && judgeNullRate === undefined
      ? []
      : [[String(step), set, number(judgeCalls), percent(judgeNullRate)]],
  ),
})

export const judgesPage = (run: OpenRun): PageView => {
  const metrics = metricsOf(run)
  const evaluations = evaluationTable(run)
  if (metrics.length === 0 && evaluations.rows.length === 0)
    return plainView('Judges', 'No judge was asked in this run: its criteria are decided by programs.')
  const charts = metrics.map(({ chart }) => chart)
  const head = ['Metric', 'Mean of a step', 'Latest', 'In all']
  const table: TableView = { head, rows: metrics.map(({ cells }) => cells) }
  const judges: PageSection = {
    title: 'Judges',
    about:
      'Metrics a step, as the run recorded them. A verdict that a judge failed to give is neither met nor unmet; its share is given by the sign of the points.',
    blocks: [table, { kind: 'charts', charts, size: 'narrow' }],
  }
  const isAsked = evaluations.rows.length > 0
  return { title: 'Judges', sections: [judges, isAsked && tableSection('In evaluations', '', evaluations)] }
}
