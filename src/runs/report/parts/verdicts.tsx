/** @file The verdicts on a rollout: met or not, the credit, who said so, and why. */

import { number } from '../../../util/format.ts'
import type { RolloutRow, RolloutVerdict } from '../../rows.ts'
import { callOf, callTotals, callWords, judgeName } from '../judge-words.ts'
import { verdictWord } from '../rollout-words.ts'

const lookOf = ({ met }: RolloutVerdict): string => (met === null ? 'none' : met ? 'met' : 'unmet')

/** Who gave it, whether they had to be asked, what that took, and their very words. */
const Judge = ({ verdict, row }: { verdict: RolloutVerdict; row: RolloutRow }) => {
  const call = callOf(verdict, row)
  const words = call === null ? '' : callWords(call)
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
  name: string | undefined
}

const Verdict = ({ row, verdict, name }: VerdictProps) => (
  <tr>
    <th scope="row">
      {verdict.criterionId}
      {name !== undefined && <small>{name}</small>}
    </th>
    <td>
      <span class={`verdict ${lookOf(verdict)}`}>{verdictWord(verdict, row)}</span>
      {verdict.leftOut && <small>not counted in this step</small>}
    </td>
    <td class="num">{verdict.credit === undefined ? '' : number(verdict.credit)}</td>
    <td class="judge">
      <Judge verdict={verdict} row={row} />
    </td>
    <td class="reason">{verdict.explanation ?? ''}</td>
  </tr>
)

/** A table; in a narrow place a list. */
export const Verdicts = ({ row, names }: { row: RolloutRow; names: Record<string, string> }) => (
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
              name={names[verdict.criterionId]}
            />
          ))}
        </tbody>
      </table>
    </div>
    {row.judgeCalls !== undefined && <p class="quiet asked">{callTotals(row.judgeCalls)}</p>}
  </>
)
