/** @file Statistics of rollouts under the names that NeMo-Gym's reward profiler uses (`mean/reward`, ...). */

import { mean, quantile, std } from '../../../util/descriptive.ts'

type Row = Readonly<Record<string, unknown>>
type Metrics = Record<string, number>

const TASK = '_ng_task_index'
const NOT_MEASURED = new Set([TASK, '_ng_rollout_index'])

const numbersOf = (rows: readonly Row[], key: string): number[] =>
  rows.flatMap(row => {
    const value = row[key]
    if (typeof value === 'boolean') return [Number(value)]
    return typeof value === 'number' && Number.isFinite(value) ? [value] : []
  })

const describeRows = (rows: readonly Row[]): Metrics => {
  const metrics: Metrics = {}
  for (const key of new Set(rows.flatMap(row => Object.keys(row)))) {
    if (NOT_MEASURED.has(key)) continue
    const values = numbersOf(rows, key)
    if (values.length === 0) continue
    metrics[`mean/${key}`] = mean(values)
    metrics[`max/${key}`] = Math.max(...values)
    metrics[`min/${key}`] = Math.min(...values)
    metrics[`median/${key}`] = quantile(values, 0.5)
    if (values.length > 1) metrics[`std/${key}`] = std(values, 1)
  }
  return metrics
}

/** Top-level numbers of all rollouts, and of each task's; the sample standard deviation, as pandas has it. */
export const nemoGymMetrics = (rows: readonly Row[]) => {
  const taskOf = (row: Row): number => (typeof row[TASK] === 'number' ? row[TASK] : 0)
  const tasks = [...new Set(rows.map(taskOf))].toSorted((a, b) => a - b)
  const agent = describeRows(rows)
  return {
    group_level_metrics: tasks.map(task => ({
      ...describeRows(rows.filter(row => taskOf(row) === task)),
      [TASK]: task,
    })),
    agent_metrics: agent,
    key_metrics: Object.fromEntries(Object.entries(agent).filter(([key]) => key.startsWith('mean/'))),
  }
}
