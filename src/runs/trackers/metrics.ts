/** @file The metrics of a run's rows by the names that trackers show them under. */

import { flatSettings } from '../report/compare.ts'
import type { EvalRow, MetricsRow } from '../rows.ts'

export type TrackedMetrics = Record<string, number>

/** Finite numbers inside a value, by their path; null, text and what is absent are left out. */
const collect = (value: unknown, path: string, into: TrackedMetrics): void => {
  if (typeof value === 'number' && Number.isFinite(value)) into[path] = value
  else if (value !== null && typeof value === 'object')
    for (const [key, item] of Object.entries(value)) collect(item, path === '' ? key : `${path}/${key}`, into)
}

/** `{ reward: .5, criteria: { C1: 1 } }` as `reward`, `criteria/C1`. A metric without a value has no entry. */
export const stepMetrics = ({ step: _step, ...row }: MetricsRow): TrackedMetrics => {
  const metrics: TrackedMetrics = {}
  collect(row, '', metrics)
  return metrics
}

/**
 * An evaluation under `eval/<set>/`: each score by its name, with `/low` and `/high` of its interval, criteria, metrics, and
 * the scores of each source. Single problems, baselines and what is no result stay in the run.
 */
export const evalMetrics = (row: EvalRow): TrackedMetrics => {
  const metrics: TrackedMetrics = {}
  const base = `eval/${row.set}`
  scores(row.scores, base, metrics)
  const { responseTokens, judgeNullRate, judgeCalls, criteria, balance, judged } = row
  collect({ responseTokens, judgeNullRate, judgeCalls, criteria, balance, judged }, base, metrics)
  collect(row.figures, base, metrics)
  for (const [name, source] of Object.entries(row.bySource ?? {})) {
    scores(source.scores, `${base}/${name}`, metrics)
    collect(source.criteria, `${base}/${name}/criteria`, metrics)
  }
  return metrics
}

const scores = (all: EvalRow['scores'], base: string, into: TrackedMetrics): void => {
  for (const [name, { value, interval }] of Object.entries(all)) {
    collect(value, `${base}/${name}`, into)
    collect({ low: interval?.[0], high: interval?.[1] }, `${base}/${name}`, into)
  }
}

/** Timings, and calls that a cache spares the second time. */
const isPassing = (name: string): boolean => name.startsWith('time/') || /^eval\/.*\/judgeCalls$/.test(name)

/** Without what is otherwise each time: the metrics that a step has again when it is made again. */
export const withoutTimes = (metrics: Readonly<TrackedMetrics>): TrackedMetrics =>
  Object.fromEntries(Object.entries(metrics).filter(([name]) => !isPassing(name)))

/** A configuration by dotted paths, values as text; lists as JSON. */
export const trackedSettings = (config: unknown): Record<string, string> =>
  Object.fromEntries(
    flatSettings(config).flatMap(([path, value]) =>
      value === undefined ? [] : [[path, typeof value === 'string' ? value : JSON.stringify(value)]],
    ),
  )
