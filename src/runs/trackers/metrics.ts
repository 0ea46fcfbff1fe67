/** @file The metrics of a run's rows by the names that trackers show them under. */

import { flatSettings, leafEntries } from '../leaves.ts'
import type { EvalRow, MetricsRow } from '../rows.ts'

export type TrackedMetrics = Record<string, number>

/** Finite numbers inside a value, by their path; null, text and what is absent are left out. */
const numbersIn = (value: unknown): TrackedMetrics =>
  Object.fromEntries(
    leafEntries(value, '/').flatMap(([path, leaf]) =>
      Number.isFinite(leaf) ? [[path, leaf as number]] : [],
    ),
  )

/** `{ reward: .5, criteria: { C1: 1 } }` as `reward`, `criteria/C1`. A metric without a value has no entry. */
export const stepMetrics = ({ step: _step, ...row }: MetricsRow): TrackedMetrics => numbersIn(row)

/**
 * An evaluation under `eval/<set>/`: each score by its name, with `/low` and `/high` of its interval, criteria, metrics, and
 * the scores of each source. Single problems, baselines and what is no result stay in the run.
 */
export const evalMetrics = (row: EvalRow): TrackedMetrics => {
  const { set, responseTokens, judgeNullRate, judgeCalls, criteria, balance, judged, figures } = row
  const sources = Object.entries(row.bySource ?? {}).map(([name, source]) => ({
    [name]: scores(source.scores),
    [`${name}/criteria`]: source.criteria,
  }))
  const own = { responseTokens, judgeNullRate, judgeCalls, criteria, balance, judged }
  const all = [scores(row.scores), own, figures, ...sources].map(part => ({ [`eval/${set}`]: part }))
  return Object.assign({}, ...all.map(numbersIn))
}

const scores = (all: EvalRow['scores']): object =>
  Object.fromEntries(
    Object.entries(all).flatMap(([name, { value, interval }]) => [
      ...[
        [name, value],
        [`${name}/low`, interval?.[0]],
        [`${name}/high`, interval?.[1]],
      ],
    ]),
  )

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
