/** @file Held-out problems for reading: what the model said before and after the training, side by side. */

import { percent } from '../../util/format.ts'
import { describeCriteria } from '../criterion-words.ts'
import { sampleRow } from '../eval-samples.ts'
import type { EvalRow, RolloutRow } from '../rows.ts'
import { beforeAfter, type ChosenRollouts, type ReportData, setNames } from './data.ts'
import { type PairedItem, pairedItems } from './paired.ts'
import type { Block, Criteria, PageSection } from './view.ts'

/** So many that were won, and so many that were lost. */
const MOST_SHOWN = 2

/** Problems of which both evaluations kept a response, by how much they changed. */
const readItems = (before: EvalRow, after: EvalRow): PairedItem[] =>
  pairedItems(before, after, ({ scores }) => scores[after.primary])
    .filter(({ earlier, later }) => earlier.sample && later.sample)
    .sort((a, b) => b.after - b.before - (a.after - a.before))

/** Those that gained most and lost most; where nothing changed the first ones. */
const chosen = (items: readonly PairedItem[]): PairedItem[] => {
  const won = items.filter(({ before, after }) => after > before).slice(0, MOST_SHOWN)
  const lost = items.filter(({ before, after }) => after < before).slice(-MOST_SHOWN)
  const shown = [...won, ...lost]
  return shown.length > 0 ? shown : items.slice(0, MOST_SHOWN)
}

/** Judges think aloud, once for many verdicts, each of which would show it: a file to be sent around is small. */
export const withoutRaw = (row: RolloutRow): RolloutRow => ({
  ...row,
  judgeCalls: row.judgeCalls?.map(({ raw: _, ...call }) => call),
})

/** Rollouts of a group one below the other; answers, which have scores, one beside the other. */
export const groupBlocks = (groups: readonly ChosenRollouts[], criteria: Criteria, of?: 'score'): Block[] =>
  groups.flatMap(({ title, about, rows }): Block[] => [
    { kind: 'heading', text: title, about },
    { kind: 'rollouts', rows: rows.map(withoutRaw), criteria, of, isBeside: of === 'score' },
  ])

/** Null of a run that kept no responses of two evaluations. */
export const heldOutAnswers = (data: ReportData): PageSection | null => {
  const [set] = setNames(data)
  const { before, after } = set === undefined ? {} : beforeAfter(data, set)
  if (!before || !after) return null
  const groups = chosen(readItems(before, after)).map(({ later: { id }, before: from, after: to }) => ({
    title: id,
    about: `${percent(from)} to ${percent(to)}`,
    rows: [before, after].flatMap(evaluation => sampleRow(evaluation, id) ?? []),
  }))
  if (groups.length === 0) return null
  return {
    title: 'Held-out answers',
    about: `${set}: of the problems whose responses were kept, those that gained most and those that lost most, at step ${before.step} and at step ${after.step}. One response to each; the score is the mean over all of them.`,
    blocks: groupBlocks(groups, describeCriteria(data.info), 'score'),
  }
}
