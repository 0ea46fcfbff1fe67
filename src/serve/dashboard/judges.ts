/** @file What judges did in a run: every figure of calls, waiting, failures and spend that its rows have. */

import { type ChartSpec, type ChartUnit, roundForPage } from '../../runs/report/chart-spec.ts'
import { knownMetric } from '../../runs/report/known-metrics.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import { capitalised } from '../../util/format.ts'
import type { OpenRun } from './open-run.ts'
import type { JudgesView } from './wire.ts'

const ABOUT_JUDGES = /judge|verifier|verdict|unjudged|failedScor|failedGen/i
const POINTS = 400
/** Figures that count, so that their sum says something. */
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

/** What a figure is called: as in the report, where that knows it. */
const calledOf = (key: string, name: string | null): { title: string; unit: ChartUnit } =>
  (name === null ? knownMetric(key) : undefined) ?? {
    title: words(name ?? key),
    unit: /CachedShare$/.test(name ?? key) ? 'rate' : 'number',
  }

export const judgesView = (run: OpenRun): JudgesView => {
  const { rows } = run.metrics.rows(POINTS)
  const found = run.metrics
    .names()
    .filter(({ key, name }) =>
      ABOUT_JUDGES.test(name === null || key === 'criteria' ? key : `${key}.${name}`),
    )
  const figures = found.flatMap(({ key, name }) => {
    const values = rows.map(row => {
      const value = name === null ? row[key] : (row[key] as MetricGroup | undefined)?.[name]
      return typeof value === 'number' ? roundForPage(value) : null
    })
    const known = values.filter(value => value !== null)
    if (known.length === 0) return []
    const { title, unit } = calledOf(key, name)
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length
    const total = COUNTS.test(name ?? key) ? run.metrics.total(key, name ?? undefined) : null
    return [{ id: `judge-${key}-${name ?? ''}`, title, unit, values, mean, last: known.at(-1)!, total }]
  })
  return {
    figures: figures.map(({ title, unit, mean, last, total }) => ({ title, unit, mean, last, total })),
    charts: figures.map(
      ({ id, title, unit, values }): ChartSpec => ({
        ...{ id, title, unit, x: rows.map(row => row.step) },
        series: [{ label: title, color: 'c1', kind: 'line', values }],
      }),
    ),
    evaluations: run.evals.flatMap(({ step, set, judgeCalls, judgeNullRate }) =>
      judgeCalls === undefined && judgeNullRate === undefined
        ? []
        : [{ step, set, calls: judgeCalls ?? null, nullRate: judgeNullRate ?? null }],
    ),
  }
}
