/** @file The verdicts on a rollout: met or not, the credit, who said so, and why. */

import { number } from '../../../util/format.ts'
import { type CriterionDescription, describeVerdict, pointsWord, shownName } from '../../criterion-words.ts'
import type { RolloutRow, RolloutVerdict } from '../../rows.ts'
import { callTotals, describeCall, judgeName, rowCallOf } from '../judge-words.ts'
import { verdictWord } from '../rollout-words.ts'

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

interface VerdictProps {
  row: RolloutRow
  verdict: RolloutVerdict
  /** The criterion in words. */
  words: CriterionDescription
}

const Criterion = ({ verdict: { criterionId }, words }: Pick<VerdictProps, 'verdict' | 'words'>) => {
  const { text, points } = words
  const name = shownName(words)
  return (
    <th scope="row">
      {criterionId}
      {name !== undefined && name !== criterionId && <small>{name}</small>}
      {(text !== undefined || points !== undefined) && (
        <small class="says">
          {points !== undefined && <b>{pointsWord(points)}</b>} {text}
        </small>
      )}
    </th>
  )
}

const Verdict = ({ row, verdict, words }: VerdictProps) => (
  <tr>
    <Criterion verdict={verdict} words={words} />
    <td>
      <span class={`verdict ${lookOf(verdict, words)}`}>{verdictWord(verdict, row)}</span>
      {verdict.leftOut && <small>not counted in this step</small>}
    </td>
    <td class="num">{verdict.credit === undefined ? '' : number(verdict.credit)}</td>
    <td class="judge">
      <Judge verdict={verdict} row={row} />
    </td>
    <td class="reason">{verdict.explanation ?? ''}</td>
  </tr>
)

/** What a run tells of its criteria, by id. */
export type Criteria = Record<string, CriterionDescription>

/** A table; in a narrow place a list. */
export const VerdictTable = ({ row, criteria }: { row: RolloutRow; criteria: Criteria }) => (
  <>
    <div class="verdicts-place">
      <table class="verdict-table">
        <thead>
          <tr>
            <th scope="col">Criterion</th>
            <th scope="col">Verdict</th>
            <th scope="col" class="num">
              Credit
            </th>
            <th scope="col">Judge</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {row.verdicts?.map((verdict, i) => (
            <Verdict
              key={`${i}-${verdict.criterionId}`}
              row={row}
              verdict={verdict}
              words={describeVerdict(verdict, criteria)}
            />
          ))}
        </tbody>
      </table>
    </div>
    {row.judgeCalls !== undefined && <p class="quiet asked">{callTotals(row.judgeCalls)}</p>}
  </>
)
