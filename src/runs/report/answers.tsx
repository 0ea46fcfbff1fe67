/** @file Held-out problems for reading: what the model said before and after the training, side by side. */

import { percent } from '../../util/format.ts'
import { describeCriteria } from '../criterion-words.ts'
import { sampleRow } from '../eval-samples.ts'
import type { EvalRow, RolloutRow, RunInfo } from '../rows.ts'
import { beforeAfter, type ReportData, setNames } from './data.ts'
import { type Html, html, part } from './html.ts'
import { heading } from './page.ts'
import { RolloutCard } from './parts/rollout.tsx'
import { withoutRaw } from './rollouts.tsx'

/** So many that were won, and so many that were lost. */
const MOST_SHOWN = 2

interface ReadItem {
  id: string
  before: number
  after: number
}

/** Problems of which both evaluations kept a response, by how much they changed. */
const readItems = (before: EvalRow, after: EvalRow): ReadItem[] => {
  const { primary } = after
  const earlier = new Map(before.items?.map(item => [item.id, item]))
  const items = (after.items ?? []).flatMap(({ id, scores, sample }): ReadItem[] => {
    const other = earlier.get(id)
    const [x, y] = [other?.scores[primary], scores[primary]]
    return sample && other?.sample && typeof x === 'number' && typeof y === 'number'
      ? [{ id, before: x, after: y }]
      : []
  })
  return items.sort((a, b) => b.after - b.before - (a.after - a.before))
}

/** Those that gained most and lost most; where nothing changed the first ones. */
const chosen = (items: readonly ReadItem[]): ReadItem[] => {
  const won = items.filter(({ before, after }) => after > before).slice(0, MOST_SHOWN)
  const lost = items.filter(({ before, after }) => after < before).slice(-MOST_SHOWN)
  const shown = [...won, ...lost]
  return shown.length > 0 ? shown : items.slice(0, MOST_SHOWN)
}

const Pair = ({ info, rows }: { info: RunInfo; rows: readonly (RolloutRow | null)[] }) => (
  <div class="beside">
    {rows.map(
      row =>
        row && (
          <RolloutCard key={row.step} row={withoutRaw(row)} criteria={describeCriteria(info)} of="score" />
        ),
    )}
  </div>
)

/** Null of a run that kept no responses of two evaluations. */
export const answerSection = (data: ReportData): Html | null => {
  const [set] = setNames(data)
  const { before, after } = set === undefined ? {} : beforeAfter(data, set)
  if (!before || !after) return null
  const items = chosen(readItems(before, after))
  if (items.length === 0) return null
  const about = `${set}: of the problems whose responses were kept, those that gained most and those that lost most, at step ${before.step} and at step ${after.step}. One response to each; the score is the mean over all of them.`
  return html`<section class="section-rollouts">${heading('Held-out answers', about)}${items.map(
    ({ id, before: from, after: to }) =>
      html`<h3>${id} <span class="quiet">${percent(from)} to ${percent(to)}</span></h3>
${part(Pair, { info: data.info, rows: [sampleRow(before, id), sampleRow(after, id)] })}`,
  )}</section>`
}
