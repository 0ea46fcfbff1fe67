/** @file Two evaluations of a run on a set of problems: which items were won and lost, and how sure the difference is. */

import { z } from 'zod'
import { describeCriteria } from '../../runs/criterion-words.ts'
import { sampleRow } from '../../runs/eval-samples.ts'
import { pairedDifference, pairedItems } from '../../runs/report/paired.ts'
import { scoreTable } from '../../runs/report/tables.ts'
import type { ScoreLine, TableView } from '../../runs/report/view.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { describeScore, headlineScores, scoreNamesOf } from '../../runs/scores.ts'
import { DataError } from '../../util/errors.ts'
import { number } from '../../util/format.ts'
import type { OpenRun } from './open-run.ts'
import type { EvaluationView, ItemView, LightEval, WonItem } from './wire.ts'

export const evaluationQuery = z.object({
  set: z.string(),
  before: z.coerce.number().optional(),
  after: z.coerce.number().optional(),
  score: z.string().optional(),
})

export const itemQuery = evaluationQuery.omit({ score: true }).extend({ id: z.string() })

/** Items that a page is sent, those that changed most. */
const MOST_ITEMS = 400

/** Items by how they changed; a score is a mean over samples, so any change counts. */
const changesOf = (pairs: readonly WonItem[]) => ({
  won: pairs.filter(({ before, after }) => after > before).length,
  lost: pairs.filter(({ before, after }) => after < before).length,
  same: pairs.filter(({ before, after }) => after === before).length,
})

/** The two evaluations that are asked for; the first and the last where none is named. @throws DataError where there are none */
const twoEvals = (
  run: OpenRun,
  { set, before, after }: Pick<z.output<typeof evaluationQuery>, 'set' | 'before' | 'after'>,
): EvalRow[] => {
  const own = run.evals.flatMap((row, index) => (row.set === set ? [{ index, step: row.step }] : []))
  if (own.length === 0) throw new DataError(`${set}: the run has no evaluation on this set`)
  const place = (step: number | undefined, otherwise: number) =>
    own.findLast(row => row.step === step)?.index ?? own.at(otherwise)!.index
  return run.wholeEvals([place(before, 0), place(after, -1)])
}

/** The responses to one problem at two evaluations. @throws DataError where the run has no such evaluations */
export const itemView = (run: OpenRun, { id, ...query }: z.output<typeof itemQuery>): ItemView => {
  const [before, after] = twoEvals(run, query).map(row => sampleRow(row, id))
  return { id, before, after, criteria: describeCriteria(run.info) }
}

/** Every score at every step. */
const allScores = (evals: readonly LightEval[]): TableView => {
  const bars = headlineScores(evals)
  const others = scoreNamesOf(evals).filter(name => !bars.includes(name))
  const lines = evals.map(({ step, n, scores }, i): ScoreLine => {
    const kind = i === evals.length - 1 ? 'after' : 'before'
    return { name: number(step), kind, n, scores }
  })
  return scoreTable(lines, { bars, others, evals, head: 'Step' })
}

/** @throws DataError where the run has no such evaluations */
export const evaluationView = (run: OpenRun, query: z.output<typeof evaluationQuery>): EvaluationView => {
  const { set, score } = query
  const rows = twoEvals(run, query)
  const [first, last] = rows
  const scores = scoreNamesOf(rows)
  const name = score !== undefined && scores.includes(score) ? score : last.primary
  const pairs = pairedItems(first, last, item => item.scores[name]).map(
    ({ earlier, later, before, after }): WonItem => ({
      ...{ id: later.id, before, after },
      readable: earlier.sample !== undefined || later.sample !== undefined,
    }),
  )
  const same = pairs.filter(item => item.after === item.before && item.readable)
  const changed = pairs.filter(item => item.after !== item.before)
  changed.sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before))
  const own = run.evals.filter(row => row.set === set)
  return {
    set,
    steps: [...new Set(own.map(({ step }) => step))],
    scores: allScores(own),
    before: first.step,
    after: last.step,
    score: name,
    words: Object.fromEntries(scores.map(each => [each, describeScore(each, rows)])),
    paired: first.step === last.step ? null : pairedDifference(first, last, name),
    ...changesOf(pairs),
    items: [...changed, ...same].slice(0, MOST_ITEMS),
  }
}
