/** @file The verdicts on a rollout: met or not, the credit, who said so, and why. */

import { number } from '../../../util/format.ts'
import { type CriterionDescription, describeVerdict, pointsWord, shownName } from '../../criterion-words.ts'
import type { RolloutRow, RolloutVerdict } from '../../rows.ts'
import { callTotals, describeCall, judgeName, rowCallOf } from '../judge-words.ts'
import type { Criteria } from '../view.ts'
import { Table } from './table.tsx'
import { noted } from './words.tsx'

/** Of what a rubricator wrote the verdicts say which criteria are valid. */
const verdictWord = ({ met }: RolloutVerdict, { role }: RolloutRow): string => {
  if (met === null) return 'no verdict'
  return `${met ? '' : 'not '}${role === 'rubricator' ? 'valid' : 'met'}`
}

/** A flaw that is not there is a good thing. */
const lookOf = ({ met }: RolloutVerdict, { points = 1 }: CriterionDescription): string =>
  met === null ? 'none' : met === points > 0 ? 'good' : 'bad'

/** Who gave it, whether they had to be asked, what that took, and their very words. */
const Judge = ({ verdict, row }: { verdict: RolloutVerdict; row: RolloutRow }) => {
  const call = rowCallOf(verdict, row)
  const words = call === null ? '' : describeCall(call)
  return (
    <>
      {judgeName(verdict, row) ?? '–'}
      {words !== '' && <small>{words}</small>}
      {call?.raw !== undefined && (
        <details class="raw">
          <summary>Raw answer</summary>
          <pre>{call.raw}</pre>
        </details>
      )}
    </>
  )
}

/** A criterion: its id, what else it is called, and what it says. */
const Criterion = ({ id, words }: { id: string; words: CriterionDescription }) => {
  const { text, points } = words
  const name = shownName(words)
  return (
    <>
      {id}
      {name !== undefined && name !== id && <small>{name}</small>}
      {(text !== undefined || points !== undefined) && (
        <small class="says">
          {points !== undefined && <b>{pointsWord(points)}</b>} {text}
        </small>
      )}
    </>
  )
}

/** A table; in a narrow place a list. */
export const VerdictTable = ({ row, criteria }: { row: RolloutRow; criteria: Criteria }) => (
  <>
    <Table
      class="verdict-table"
      rows={(row.verdicts ?? []).map(own => ({ own, words: describeVerdict(own, criteria) }))}
      columns={[
        ['Criterion', ({ own, words }) => <Criterion id={own.criterionId} words={words} />],
        [
          'Verdict',
          ({ own, words }) =>
            noted(
              <span class={`verdict chip ${lookOf(own, words)}`}>{verdictWord(own, row)}</span>,
              own.leftOut && 'not counted in this step',
            ),
        ],
        ['Credit', ({ own: { credit } }) => (credit === undefined ? '' : number(credit)), 'num'],
        ['Judge', ({ own }) => <Judge verdict={own} row={row} />, 'judge'],
        ['Reason', ({ own }) => own.explanation ?? '', 'reason'],
      ]}
    />
    {row.judgeCalls !== undefined && <p class="about">{callTotals(row.judgeCalls)}</p>}
  </>
)
