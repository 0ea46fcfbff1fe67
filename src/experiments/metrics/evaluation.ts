/** @file Metrics of the last evaluation on a test set: scores, criteria, format, balance over labels. */

import { z } from 'zod'
import type { EvalRow } from '../../runs/rows.ts'
import { greedyName, scoreValue } from '../../runs/scores.ts'
import { meanKnown } from '../../util/statistics.ts'
import { evalsOn, type FinishedRun, type Metric, metric } from './metric.ts'

/** Of the form of responses, not of single problems. */
const NOT_ITEMWISE: readonly string[] = ['wellFormed', 'greedy.wellFormed']

const lastOn = (run: FinishedRun, set: string | undefined): EvalRow | undefined => evalsOn(run, set).at(-1)

const set = z.string().optional()

/** Recipes name their scores themselves; which there are, only a run knows. */
const scoreName = z.string().min(1)

/**
 * What a row calls a registered score. `accuracy` was the name of every recipe's main score and is what a claim means that
 * names none: where answers are not right or wrong, it is the primary score.
 */
export const scoreNameIn = (row: EvalRow, registered: string): string => {
  const isGreedy = registered.startsWith(greedyName(''))
  const base = isGreedy ? registered.slice(greedyName('').length) : registered
  const own = base === 'primary' || (base === 'accuracy' && !('accuracy' in row.scores)) ? row.primary : base
  return isGreedy ? greedyName(own) : own
}

/** A registered score of a row; null where it has none. */
export const scoreOf = (row: EvalRow | undefined, score: string): number | null =>
  row === undefined ? null : scoreValue(row, scoreNameIn(row, score))

const rightOrWrong = (row: EvalRow | undefined, score: string): Map<string, number> | null => {
  if (!row?.items) return null
  const name = scoreNameIn(row, score)
  const values = row.items.map(item => [item.id, item.scores[name]] as const)
  const binary = values.every(([, value]) => value === 0 || value === 1)
  return binary && values.length > 0 ? new Map(values as [string, number][]) : null
}

/** A value of every evaluation on a test set that has it, by step. */
export const along = (
  run: FinishedRun,
  set: string | undefined,
  read: (row: EvalRow) => number | null,
): { step: number; value: number }[] =>
  evalsOn(run, set).flatMap(row => {
    const value = read(row)
    return value === null ? [] : [{ step: row.step, value }]
  })

const score = metric({
  summary: 'score on a test set after the last step; `score` names another one than accuracy',
  options: z.strictObject({ set, score: scoreName.default('accuracy') }),
  unit: 'share',
  value: (run, options) => scoreOf(lastOn(run, options.set), options.score),
  over: (run, options) => along(run, options.set, row => scoreOf(row, options.score)),
  itemwise: ({ score }) => !NOT_ITEMWISE.includes(score),
  items: (run, options) => rightOrWrong(lastOn(run, options.set), options.score),
})

/** `needed-*` names all that begin so. */
export const matches = (pattern: string, id: string): boolean =>
  pattern.endsWith('*') ? id.startsWith(pattern.slice(0, -1)) : id === pattern

const criterionOf = (row: EvalRow | undefined, pattern: string): number | null => {
  const matching = Object.entries(row?.criteria ?? {}).filter(([id]) => matches(pattern, id))
  return meanKnown(matching.map(([, value]) => value))
}

const criterion = metric({
  summary:
    'how often a criterion is met, after the last step; `id` may end in * and means the mean of several',
  options: z.strictObject({ set, id: z.string() }),
  unit: 'share',
  value: (run, options) => criterionOf(lastOn(run, options.set), options.id),
  over: (run, options) => along(run, options.set, row => criterionOf(row, options.id)),
})

const balance = metric({
  summary: 'balance over labels after the last step: macroRecall, minClassRecall, trueBias, absoluteTrueBias',
  options: z.strictObject({
    set,
    of: z.enum(['macroRecall', 'minClassRecall', 'trueBias', 'absoluteTrueBias']).default('minClassRecall'),
  }),
  unit: 'share',
  value: (run, options) => {
    const row = lastOn(run, options.set)?.balance
    if (!row) return null
    if (options.of !== 'absoluteTrueBias') return row[options.of]
    return row.trueBias === null ? null : Math.abs(row.trueBias)
  },
})

const responseTokens = metric({
  summary: 'mean length of a response on a test set after the last step, in tokens',
  options: z.strictObject({ set }),
  unit: 'number',
  value: (run, options) => lastOn(run, options.set)?.responseTokens ?? null,
})

export const EVALUATION_METRICS: Readonly<Record<string, Metric>> = {
  ...{ score, criterion, balance },
  'response-tokens': responseTokens,
}
