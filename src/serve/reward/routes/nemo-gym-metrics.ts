/** @file Statistics of rollouts under the names that NeMo-Gym's reward profiler uses (`mean/reward`, ...). */

import { mean, quantile, std } from '../../../util/descriptive.ts'

type Row = Readonly<Record<string, unknown>>
type Metrics = Record<string, number>

const TASK = '_ng_task_index'
const NOT_MEASURED = new Set([TASK, '_ng_rollout_index'])

const numberOf = (value: unknown): number | null => {
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** Numbers of all rows by key, in one pass: rows may have a hundred thousand keys that no other has. */
const numbersByKey = (rows: readonly Row[]): Map<string, number[]> => {
  const byKey = new Map<string, number[]>()
  for (const row of rows)
    for (const [key, value] of Object.entries(row)) {
      const number = NOT_MEASURED.has(key) ? null : numberOf(value)
      if (number === null) continue
      const known = byKey.get(key)
      if (known === undefined) byKey.set(key, [number])
      else known.push(number)
    }
  return byKey
}

const describeRows = (rows: readonly Row[]): Metrics => {
  const metrics: [string, number][] = []
  for (const [key, values] of numbersByKey(rows)) {
    metrics.push([`mean/${key}`, mean(values)])
    metrics.push([`max/${key}`, values.reduce((a, b) => Math.max(a, b))])
    metrics.push([`min/${key}`, values.reduce((a, b) => Math.min(a, b))])
    metrics.push([`median/${key}`, quantile(values, 0.5)])
    if (values.length > 1) metrics.push([`std/${key}`, std(values, 1)])
  }
  // Sums of huge numbers may be infinite, and JSON has no word for that.
  return Object.fromEntries(metrics.filter(([, value]) => Number.isFinite(value)))
}

/** Top-level numbers of all rollouts, and of each task's; the sample standard deviation, as pandas has it. */
export const nemoGymMetrics = (rows: readonly Row[]) => {
  const tasks = new Map<number, Row[]>()
  for (const row of rows) {
    const task = numberOf(row[TASK]) ?? 0
    const known = tasks.get(task)
    if (known === undefined) tasks.set(task, [row])
    else known.push(row)
  }
  const agent = describeRows(rows)
  return {
    group_level_metrics: [...tasks]
      .toSorted(([a], [b]) => a - b)
      .map(([task, own]) => ({ ...describeRows(own), [TASK]: task })),
    agent_metrics: agent,
    key_metrics: Object.fromEntries(Object.entries(agent).filter(([key]) => key.startsWith('mean/'))),
  }
}
