/** @file Held-out problems for reading: what the model said before and after the training, side by side. */

import { percent } from '../../util/format.ts'
import { describeCriteria } from '../criterion-words.ts'
import { sampleRow } from '../eval-samples.ts'
import type { EvalRow, RolloutRow } from '../rows.ts'
import { beforeAfter, type ChosenRollouts, type ReportData, setNames } from './data.ts'
import { type PairedItem, pairedItems } from './paired.ts'
import type { Block, Criteria, PageSection } from './view.ts'

/** As many as somebody reads before a score is believed. */
const MOST_SHOWN = 20

/** Problems of which both evaluations kept a response, by how much they changed. */
const readItems = (before: EvalRow, after: EvalRow): PairedItem[] =>
  pairedItems(before, after, ({ scores }) => scores[after.primary])
    .filter(({ earlier, later }) => earlier.sample && later.sample)
    .sort((a, b) => b.after - b.before - (a.after - a.before))

/** Evenly from the one that gained most to the one that lost most: neither the best alone nor the worst. */
const chosen = (items: readonly PairedItem[]): PairedItem[] => {
  const step = Math.max(1, (items.length - 1) / (MOST_SHOWN - 1))
  return Array.from({ length: Math.min(items.length, MOST_SHOWN) }, (_, i) => items[Math.round(i * step)])
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
    about: `${set}: ${groups.length} of the problems whose responses were kept, evenly from the one that gained most to the one that lost most, at step ${before.step} and at step ${after.step}. One response to each; the score is the mean over all of them.`,
    blocks: groupBlocks(groups, describeCriteria(data.info), 'score'),
  }
}
