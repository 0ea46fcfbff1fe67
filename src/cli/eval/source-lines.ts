/** @file Metrics of a test set by where its problems come from, as lines for a terminal. */

import type { EvalRow, SourceScore } from '../../runs/rows.ts'
import { describeScore, headlineScores } from '../../runs/scores.ts'
import { NONE, percent, plural } from '../../util/format.ts'

type TellingRow = Pick<EvalRow, 'scores' | 'primary' | 'scoreNames' | 'bySource'>

const share = (value: number | null | undefined): string => (value == null ? NONE : percent(value))

const linesOf = (
  name: string,
  row: TellingRow,
  { n, scores, byLabel = {}, criteria = {} }: SourceScore,
): string[] => {
  const values = headlineScores([row]).map(
    score => `${describeScore(score, [row])} ${share(scores[score]?.value)}`,
  )
  const labels = Object.entries(byLabel).map(
    ([label, own]) => `${label} ${share(own.scores.accuracy)} of ${own.n}`,
  )
  const met = Object.entries(criteria).map(([id, value]) => `${id} ${share(value)}`)
  return [
    `    ${name}, ${plural(n, 'problem')}: ${values.join(', ')}`,
    `      criteria        ${met.join(', ')}`,
    `      answers to      ${labels.join(', ')}`,
  ]
}

/** Lines about each source of a row; none where there is one source alone. */
export const sourceScoreLines = (row: TellingRow): string[] => {
  const entries = Object.entries(row.bySource ?? {})
  return entries.length === 0
    ? []
    : ['  by source:', ...entries.flatMap(([name, own]) => linesOf(name, row, own))]
}
