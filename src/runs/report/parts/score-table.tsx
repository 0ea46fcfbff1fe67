/** @file Scores of evaluations: a row for each of them or for a baseline, the headline scores with bars. */

import { capitalised, percent, percentInterval } from '../../../util/format.ts'
import type { EvalRow, Score, Scores } from '../../rows.ts'
import { scoreWords } from '../../scores.ts'
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

const BarCell = ({ score: { value, interval }, kind }: { score: Score; kind: ScoreLine['kind'] }) =>
  value === null ? (
    <td class="meter none">–</td>
  ) : (
    <td class="meter" title={interval && `95%: ${percentInterval(interval)}`}>
      <Meter value={value} kind={kind} interval={interval} />
    </td>
  )

const FigureCell = ({ score: { value, interval } = NO_SCORE }: { score: Score | undefined }) => (
  <td class="num">
    {percent(value)}
    {interval && <small>{percentInterval(interval)}</small>}
  </td>
)

export const ScoreTable = ({ lines, head = '', bars, others, evals }: ScoreTableProps) => {
  const words = (score: string) => capitalised(scoreWords(score, evals))
  return (
    <table>
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
            <th scope="row">
              {name}
              {note && <small>{note}</small>}
            </th>
            {bars.map(score => (
              <BarCell score={scores[score] ?? NO_SCORE} kind={kind} key={score} />
            ))}
            {others.map(score => (
              <FigureCell score={scores[score]} key={score} />
            ))}
            <td class="num quiet">{n ?? '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
