/** @file Scores of evaluations: a row for each of them or for a baseline, the headline scores with bars. */

import { capitalised, percent, percentInterval } from '../../../util/format.ts'
import type { EvalRow, Score, Scores } from '../../rows.ts'
import { describeScore } from '../../scores.ts'
import { Meter } from './meter.tsx'

export interface ScoreLine {
  name: string
  note?: string
  kind: 'before' | 'after' | 'baseline'
  /** Problems. */
  n?: number
  scores: Scores
}

interface ScoreTableProps {
  lines: readonly ScoreLine[]
  /** What the lines are, over their names. */
  head?: string
  /** Scores with a bar, and those without. */
  bars: readonly string[]
  others: readonly string[]
  /** What the scores are called. */
  evals: readonly EvalRow[]
}

const NO_SCORE: Score = { value: null }

interface CellProps {
  /** What the score is called: told beside it where columns have no heads. */
  name: string
  score: Score | undefined
}

const BarCell = ({
  name,
  score: { value, interval } = NO_SCORE,
  kind,
}: CellProps & Pick<ScoreLine, 'kind'>) =>
  value === null ? (
    <td class="meter none" data-name={name}>
      –
    </td>
  ) : (
    <td class="meter" data-name={name} title={interval && `95%: ${percentInterval(interval)}`}>
      <Meter value={value} kind={kind} interval={interval} />
    </td>
  )

const FigureCell = ({ name, score: { value, interval } = NO_SCORE }: CellProps) => (
  <td class={value === null ? 'num none' : 'num'} data-name={name}>
    <span>
      {percent(value)}
      {interval && <small>{percentInterval(interval)}</small>}
    </span>
  </td>
)

/** A table; within `figures-place`, where that is narrow, a list a row. */
export const ScoreTable = ({ lines, head = '', bars, others, evals }: ScoreTableProps) => {
  const words = (score: string) => capitalised(describeScore(score, evals))
  return (
    <table class="figure-table">
      <thead>
        <tr>
          <th scope="col">{head}</th>
          {bars.map(score => (
            <th scope="col" class="wide" key={score}>
              {words(score)}
            </th>
          ))}
          {others.map(score => (
            <th scope="col" class="num" key={score}>
              {words(score)}
            </th>
          ))}
          <th scope="col" class="num">
            Problems
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ name, note, kind, n, scores }, i) => (
          <tr class={kind} key={`${i}-${name}`}>
            <th scope="row" data-head={head || undefined}>
              {name}
              {note && <small>{note}</small>}
            </th>
            {bars.map(score => (
              <BarCell name={words(score)} score={scores[score]} kind={kind} key={score} />
            ))}
            {others.map(score => (
              <FigureCell name={words(score)} score={scores[score]} key={score} />
            ))}
            <td class="num quiet" data-name="Problems">
              {n ?? '–'}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
