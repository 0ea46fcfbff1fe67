/** @file Two evaluations of a run on a set of problems: which items were won and lost, and how sure the difference is. */

import { z } from 'zod'
import { pairedDifference } from '../../runs/report/paired.ts'
import { scoreNamesOf, scoreWords } from '../../runs/scores.ts'
import { DataError } from '../../util/errors.ts'
import type { OpenRun } from './open-run.ts'
import type { EvaluationView, WonItem } from './wire.ts'

export const evaluationQuery = z.object({
  set: z.string(),
  before: z.coerce.number().optional(),
  after: z.coerce.number().optional(),
  score: z.string().optional(),
})

/** Items that a page is sent, those that changed most. */
const MOST_ITEMS = 400

/** Items by how they changed; a score is a mean over samples, so any change counts. */
const changesOf = (pairs: readonly WonItem[]) => ({
  won: pairs.filter(({ before, after }) => after > before).length,
  lost: pairs.filter(({ before, after }) => after < before).length,
  same: pairs.filter(({ before, after }) => after === before).length,
})

/** @throws DataError where the run has no such evaluations */
export const evaluationView = (
  run: OpenRun,
  { set, before, after, score }: z.output<typeof evaluationQuery>,
): EvaluationView => {
  const own = run.evals.flatMap((row, index) => (row.set === set ? [{ index, step: row.step }] : []))
  if (own.length === 0) throw new DataError(`${set}: the run has no evaluation on this set`)
  const place = (step: number | undefined, otherwise: number) =>
    own.findLast(row => row.step === step)?.index ?? own.at(otherwise)!.index
  const rows = run.wholeEvals([place(before, 0), place(after, -1)])
  const [first, last] = rows
  const scores = scoreNamesOf(rows)
  const name = score !== undefined && scores.includes(score) ? score : last.primary
  const earlier = new Map(first.items?.map(item => [item.id, item.scores[name]]))
  const pairs = (last.items ?? []).flatMap(({ id, scores: its }): WonItem[] => {
    const [x, y] = [earlier.get(id), its[name]]
    return typeof x === 'number' && typeof y === 'number' ? [{ id, before: x, after: y }] : []
  })
  const changed = pairs.filter(item => item.after !== item.before)
  changed.sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before))
  return {
    set,
    before: first.step,
    after: last.step,
    score: name,
    words: Object.fromEntries(scores.map(each => [each, scoreWords(each, rows)])),
    paired: first.step === last.step ? null : pairedDifference(first, last, name),
    ...changesOf(pairs),
    items: changed.slice(0, MOST_ITEMS),
  }
}
