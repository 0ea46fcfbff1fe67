/** @file Two evaluations of a run on a set of problems: which items were won and lost, and how sure the difference is. */

import { z } from 'zod'
import { describeCriteria } from '../../runs/criterion-words.ts'
import { sampleRow } from '../../runs/eval-samples.ts'
import {
  type PairedDifference,
  type PairedItem,
  pairedDifference,
  pairedItems,
} from '../../runs/report/paired.ts'
import { scoreTable } from '../../runs/report/tables.ts'
import {
  type Block,
  type Chip,
  emptyBlock,
  type PageChoice,
  type PageFact,
  type PageView,
  plainView,
  type ScoreLine,
  type TableView,
  tableSection,
} from '../../runs/report/view.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { describeScore, headlineScores, scoreNamesOf } from '../../runs/scores.ts'
import { DataError } from '../../util/errors.ts'
import { number, percent, points, pointsInterval } from '../../util/format.ts'
import { runAddress } from './library.ts'
import type { OpenRun } from './open-run.ts'
import type { LightEval } from './wire.ts'

export const evaluationQuery = z.object({
  set: z.string().optional(),
  before: z.coerce.number().optional(),
  after: z.coerce.number().optional(),
  score: z.string().optional(),
  /** A problem whose responses are to be read. */
  item: z.string().optional(),
})

type EvaluationQuery = z.output<typeof evaluationQuery>

/** Items that a page is sent, those that changed most. */
const MOST_ITEMS = 400

/** The two evaluations that are asked for; the first and the last where none is named. @throws DataError where there are none */
const twoEvals = (run: OpenRun, set: string, { before, after }: EvaluationQuery): EvalRow[] => {
  const own = run.evals.flatMap((row, index) => (row.set === set ? [{ index, step: row.step }] : []))
  if (own.length === 0) throw new DataError(`${set}: the run has no evaluation on this set`)
  const place = (step: number | undefined, otherwise: number) =>
    own.findLast(row => row.step === step)?.index ?? own.at(otherwise)!.index
  return run.wholeEvals([place(before, 0), place(after, -1)])
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

/** The responses to one problem at two evaluations, one beside the other. */
const itemPage = (run: OpenRun, set: string, { item: id = '', ...query }: EvaluationQuery): PageView => {
  const criteria = describeCriteria(run.info)
  const answers = twoEvals(run, set, query).map((row): Block => {
    const shown = sampleRow(row, id)
    return shown === null
      ? emptyBlock('No response was kept of this evaluation.')
      : { kind: 'rollouts', rows: [shown], criteria, of: 'score' }
  })
  const links = [{ text: 'All problems', href: runAddress(run.found.id, 'evaluation', { ...query, set }) }]
  const title = id.length > 160 ? 'Responses to one problem' : id
  return {
    title: id,
    intro: [{ kind: 'links', links }],
    sections: [{ title, blocks: [{ kind: 'stack', class: 'beside', blocks: answers }] }],
  }
}

/** A score is a mean over samples, so any change counts. */
const itemTable = (items: readonly PairedItem[], addressOfItem: (id: string) => string): TableView => ({
  head: ['Problem', 'Before', 'After', 'Change'],
  rows: items.map(({ earlier, later: { id, sample }, before, after }) => {
    const isReadable = earlier.sample ?? sample
    const size = Math.abs((after - before) * 100).toFixed(1)
    const change =
      before === after
        ? { text: 'the same', class: 'quiet' }
        : after > before
          ? { text: `won ${size}`, class: 'change up' }
          : { text: `lost ${size}`, class: 'change down' }
    return [
      isReadable ? { text: id, href: addressOfItem(id) } : id,
      ...[percent(before), percent(after), change],
    ]
  }),
})

/** What there is to choose between: two steps, and a score. */
const choicesOf = (run: OpenRun, set: string, rows: readonly EvalRow[], score: string): PageChoice[] => {
  const steps = [...new Set(run.evals.flatMap(row => (row.set === set ? [row.step] : [])))]
  const options = steps.map((step): [string, string] => [String(step), `step ${step}`])
  const [first, last] = rows.map(({ step }) => String(step))
  const words = scoreNamesOf(rows).map((name): [string, string] => [name, describeScore(name, rows)])
  return [
    { name: 'before', label: 'Between', value: first, options },
    { name: 'after', label: 'and', value: last, options },
    { name: 'score', label: 'Score', value: score, options: words },
  ]
}

/** Coloured where the interval leaves zero out. */
const changeOf = ({ difference, interval }: PairedDifference): Chip => {
  const look = interval[0] > 0 ? 'up' : interval[1] < 0 ? 'down' : ''
  return { text: `${points(difference)} (${pointsInterval(interval)})`, class: `change ${look}` }
}

/** The same problems at two steps: which were won and lost, and how sure the difference is. */
const wonAndLost = (run: OpenRun, set: string, query: EvaluationQuery): Block[] => {
  const rows = twoEvals(run, set, query)
  const [first, last] = rows
  const { score } = query
  const name = score !== undefined && scoreNamesOf(rows).includes(score) ? score : last.primary
  const pairs = pairedItems(first, last, item => item.scores[name])
  const changed = pairs.filter(({ before, after }) => before !== after)
  const won = changed.filter(({ before, after }) => after > before).length
  const same = pairs.filter(({ before, after }) => before === after)
  const readable = same.filter(({ earlier, later }) => earlier.sample ?? later.sample)
  changed.sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before))
  const paired = first.step === last.step ? null : pairedDifference(first, last, name)
  const items = [...changed, ...readable].slice(0, MOST_ITEMS)
  const table = itemTable(items, item => runAddress(run.found.id, 'evaluation', { ...query, set, item }))
  const facts: PageFact[] = [
    ['won', number(won)],
    ['lost', number(changed.length - won)],
    ['the same', number(same.length)],
    ['paired difference, points', paired && changeOf(paired)],
  ]
  return [
    { kind: 'choices', choices: choicesOf(run, set, rows, name) },
    { kind: 'facts', facts },
    items.length === 0 ? emptyBlock('No problem changed.') : table,
  ]
}

/** @throws DataError where the run has no such evaluations */
export const evaluationPage = (run: OpenRun, query: EvaluationQuery): PageView => {
  const sets = [...new Set(run.evals.map(({ set }) => set))]
  const set = sets.includes(query.set ?? '') ? query.set! : sets[0]
  if (set === undefined) return plainView('Evaluation', 'Nothing has been evaluated yet.')
  if (query.item !== undefined) return itemPage(run, set, query)
  const resets = ['before', 'after', 'score']
  const choice = { name: 'set', label: 'Problems', value: set, options: sets, resets }
  return {
    title: 'Evaluation',
    intro: [sets.length > 1 && { kind: 'choices', choices: [choice] }],
    sections: [
      tableSection(
        `Scores on ${set}`,
        'Problems that training never saw, with 95% intervals over problems.',
        allScores(run.evals.filter(row => row.set === set)),
      ),
      {
        title: 'Won and lost',
        about:
          'The same problems at two steps; a score is a mean over the samples of a problem. Of the first problems of a set one response is kept: their names lead to it.',
        blocks: wonAndLost(run, set, query),
      },
    ],
  }
}
