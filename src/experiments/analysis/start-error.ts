/**
 * @file How far a cold start's own value may be off. It is measured once, on so many problems, and all pairs of the start share it.
 *
 * With the scores of the problems: their variance over their number; of a criterion, what its interval over problems says. Else, for a mean of values in [0, 1], the largest variance
 * that they can have (Bhatia and Davis 2000): v (1 - v) / n, which is exact for right and wrong. v is taken as (v n + 2) / (n + 4)
 * (Agresti and Coull 1998): a start at 0 or 1 on n problems is not known without error.
 */

import type { EvalRow } from '../../runs/rows.ts'
import { normalQuantile, variance } from '../../util/statistics.ts'
import { scoreNameIn } from '../metrics/evaluation.ts'
import { beforeTraining, evalsOn, type FinishedRun } from '../metrics/index.ts'
import { type MetricChoice, START } from '../plan/registration.ts'
import type { RunPair } from './analysis.ts'
import type { Reading } from './pairs.ts'

const Z95 = normalQuantile(0.975)

/** Metrics that are means over problems of values in [0, 1]. */
const OVER_PROBLEMS = ['score', 'criterion']

/** Standard error of each cold start's value, by name; null where it is not known. */
export type StartErrors = Record<string, number | null>

/** Standard error of a share, or of another mean of values in [0, 1], over so many problems. */
export const shareError = (value: number, problems: number): number => {
  const share = (Math.min(1, Math.max(0, value)) * problems + 2) / (problems + 4)
  return Math.sqrt((share * (1 - share)) / problems)
}

/** A registered score of each item of an evaluation; null where one of them lacks it. */
const itemValues = (row: EvalRow, score: string): number[] | null => {
  const { items = [] } = row
  const name = scoreNameIn(row, score)
  const found = items.flatMap(({ scores }) => scores[name] ?? [])
  return found.length > 1 && found.length === items.length ? found : null
}

const errorOf = (run: FinishedRun, choice: MetricChoice, { metric, options }: Reading): number | null => {
  const start = beforeTraining(run)
  const value = metric.value(start, options)
  const { set, score = 'accuracy' } = choice.options as { set?: string; score?: string }
  const row = evalsOn(start, set).at(-1)
  if (value === null || row === undefined || !OVER_PROBLEMS.includes(choice.name)) return null
  const interval = row.criteriaIntervals?.[String(choice.options.id)]
  if (interval) return (interval[1] - interval[0]) / (2 * Z95) || shareError(value, row.n)
  const values = choice.name === 'score' ? itemValues(row, score) : null
  const isShare = values === null || values.every(each => each === 0 || each === 1)
  return isShare ? shareError(value, row.n) : Math.sqrt(variance(values, 1) / values.length)
}

/** Errors of the values that runs of an arm began with; null where the comparison is not with the start. */
export const startErrors = (
  runs: readonly FinishedRun[],
  b: string | null,
  choice: MetricChoice,
  reading: Reading,
): StartErrors | null => {
  if (b !== START) return null
  const first = new Map<string, FinishedRun>()
  for (const run of runs) if (!first.has(run.start)) first.set(run.start, run)
  return Object.fromEntries([...first].map(([name, run]) => [name, errorOf(run, choice, reading)]))
}

/**
 * Standard error of the mean difference that comes from the starts' values: sqrt(sum of (share of the pairs)^2 (error)^2).
 * Null where the comparison is not with the start, or an error is not known.
 */
export const sharedErrorOf = (
  pairs: readonly Pick<RunPair, 'start'>[],
  errors: StartErrors | null,
): number | null => {
  if (errors === null) return null
  const starts = [...new Set(pairs.map(({ start }) => start))]
  const parts = starts.map(name => {
    const error = errors[name] ?? null
    return error === null ? null : (error * pairs.filter(({ start }) => start === name).length) / pairs.length
  })
  return parts.every(part => part !== null) ? Math.hypot(...(parts as number[])) : null
}
