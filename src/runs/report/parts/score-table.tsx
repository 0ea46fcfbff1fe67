/** @file Scores of evaluations: a row for each of them or for a baseline, the headline scores with bars; and all of a test set. */

import { percent, percentInterval, plural } from '../../../util/format.ts'
import type { ScoreLine, SetView } from '../view.ts'
import { Meter } from './meter.tsx'
import { type Column, noted, Table, TextTable } from './table.tsx'

interface ScoreTableProps {
  lines: readonly ScoreLine[]
  /** What the lines are, over their names. */
  head?: string
  /** Scores with a bar, and those without. */
  bars: readonly string[]
  others: readonly string[]
  /** What the scores are called. */
  words: Readonly<Record<string, string>>
}

const NO_SCORE = { value: null, interval: undefined }

/** A table; within `figures-place`, where that is narrow, a list a row. */
export const ScoreTable = (props: ScoreTableProps) => {
  const { lines, head = '', bars, others, words } = props
  const column = (score: string): Column<ScoreLine> => [
    words[score] ?? score,
    ({ scores, kind }) => {
      const { value, interval } = scores[score] ?? NO_SCORE
      if (value === null) return null
      if (bars.includes(score)) return <Meter value={value} kind={kind} interval={interval} />
      return <span>{noted(percent(value), interval && percentInterval(interval))}</span>
    },
    bars.includes(score) ? 'meter' : 'num',
    ({ scores }) => scores[score]?.interval && `95%: ${percentInterval(scores[score].interval)}`,
  ]
  return (
    <Table
      rows={lines}
      columns={[
        [head, ({ name, note }) => noted(name, note)],
        ...[...bars, ...others].map(column),
        ['Problems', ({ n }) => n ?? '–', 'num quiet'],
      ]}
      rowClass={({ kind }) => kind}
    />
  )
}

/** A test set: the model before and after, baselines, and what there is beside the headline. */
export const SetPanel = ({ view }: { view: SetView }) => {
  const { set, about, lines, weaker, sources, further, balance, ...scores } = view
  return (
    <div class="panel set">
      <h3>{set}</h3>
      <p class="about">{about}</p>
      <ScoreTable lines={lines} {...scores} />
      {weaker.length > 0 && (
        <details>
          <summary>{plural(weaker.length, 'weaker baseline')}</summary>
          <ScoreTable lines={weaker} {...scores} />
        </details>
      )}
      {sources && <TextTable table={sources} />}
      {further && (
        <details>
          <summary>Further scores, labels and criteria</summary>
          <TextTable table={further} />
          {balance && <TextTable table={balance} />}
        </details>
      )}
    </div>
  )
}
