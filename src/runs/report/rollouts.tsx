/** @file Rollouts for reading: what was asked and said, and the verdicts beside it. */

import { describeCriteria } from '../criterion-words.ts'
import type { RolloutRow, RunInfo } from '../rows.ts'
import type { ChosenRollouts } from './data.ts'
import { type Html, html, part } from './html.ts'
import { RolloutCard } from './parts/rollout.tsx'

/** Judges think aloud, once for many verdicts, each of which would show it: a file to be sent around is small. */
export const withoutRaw = (row: RolloutRow): RolloutRow => ({
  ...row,
  judgeCalls: row.judgeCalls?.map(({ raw: _, ...call }) => call),
})

/** Cards one below the other. */
export const Rollouts = ({ info, rows }: { info: RunInfo; rows: readonly RolloutRow[] }) => (
  <div class="rollouts">
    {rows.map((row, i) => (
      <RolloutCard key={`${i}-${row.step}`} row={withoutRaw(row)} criteria={describeCriteria(info)} />
    ))}
  </div>
)

/** All chosen rollouts, group by group. */
export const rolloutGroups = (info: RunInfo, groups: readonly ChosenRollouts[]): Html[] =>
  groups.map(
    group => html`<h3>${group.title} <span class="quiet">${group.about}</span></h3>
${part(Rollouts, { info, rows: group.rows })}`,
  )
