/** @file Evaluations of a run on fewer problems than its last one, read as they would be on all of them. */

import type { EvalItem, EvalRow, Scores } from '../../runs/rows.ts'
import { scoreValue } from '../../runs/scores.ts'
import { mean } from '../../util/statistics.ts'

type Shared = readonly (readonly [is: EvalItem, was: EvalItem])[]

/** The last value plus the mean change on the problems that both have; null where they have none. */
const changed = (
  whole: number | null | undefined,
  shared: Shared,
  pick: (item: EvalItem) => number | null | undefined,
): number | null => {
  const changes = shared.flatMap(([item, last]) => {
    const [is, was] = [pick(item), pick(last)]
    return typeof is === 'number' && typeof was === 'number' ? [is - was] : []
  })
  return typeof whole === 'number' && changes.length > 0 ? whole + mean(changes) : null
}

const corrected = (row: EvalRow, last: EvalRow): EvalRow => {
  const known = new Map(last.items!.map(item => [item.id, item]))
  const shared = row.items!.flatMap(item => {
    const other = known.get(item.id)
    return other ? [[item, other] as const] : []
  })
  const scores: Scores = Object.fromEntries(
    Object.entries(row.scores).map(([name, own]) => {
      const value = changed(scoreValue(last, name), shared, ({ scores }) => scores[name])
      return [name, value === null ? own : { value }]
    }),
  )
  const criteria = Object.fromEntries(
    Object.entries(row.criteria ?? {}).map(([id, own]) => [
      id,
      changed(last.criteria?.[id], shared, item => item.criteria?.[id]) ?? own,
    ]),
  )
  return { ...row, scores, ...(row.criteria && { criteria }) }
}

/**
 * A run's evaluations in one scale: scores and criteria of one on fewer problems than the last of its set are the last ones plus
 * the change on the problems that both have. Those may be easier or harder than the others, and not alike for all arms: on 300 of
 * 2,048 problems arms of the packing task differ by up to .014 from themselves on all. What items do not tell of stays as it is.
 */
export const onAllProblems = (rows: readonly EvalRow[]): EvalRow[] =>
  rows.map(row => {
    const last = rows.findLast(({ set }) => set === row.set)!
    return row.n < last.n && row.items && last.items ? corrected(row, last) : row
  })
