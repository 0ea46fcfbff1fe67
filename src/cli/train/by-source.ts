/** @file Figures of a test set by where its problems come from, as lines for a terminal. */

import type { EvalRow, SourceScore } from '../../runs/rows.ts'
import { describeScore, greedyName, headlineScores, missingVerdicts, scoreValue } from '../../runs/scores.ts'
import { NONE, percent, plural } from '../../util/format.ts'

type TellingRow = Pick<EvalRow, 'scores' | 'primary' | 'scoreNames' | 'bySource'>

/** `20.0%`, or `20.0% -> 30.0%` where there is an earlier value. */
const figure = (after: number | null | undefined, before: number | null | undefined): string => {
  const now = after == null ? NONE : percent(after)
  return before == null ? now : `${percent(before)} -> ${now}`
}

const linesOf = (name: string, row: TellingRow, after: SourceScore, before?: SourceScore): string[] => {
  const scores = headlineScores([row]).map(
    score =>
      `${describeScore(score, [row])} ${figure(after.scores[score]?.value, before?.scores[score]?.value)}`,
  )
  const labels = Object.entries(after.byLabel ?? {}).map(
    ([label, own]) =>
      `${label} ${figure(own.scores.accuracy, before?.byLabel?.[label]?.scores.accuracy)} of ${own.n}`,
  )
  const criteria = Object.entries(after.criteria ?? {}).map(
    ([id, value]) => `${id} ${figure(value, before?.criteria?.[id])}`,
  )
  return [
    `    ${name}, ${plural(after.n, 'problem')}: ${scores.join(', ')}`,
    `      criteria        ${criteria.join(', ')}`,
    `      answers to      ${labels.join(', ')}`,
  ]
}

/** Lines about each source of a row, against an earlier evaluation where there is one; none where there is one source alone. */
export const sourceScoreLines = (row: TellingRow, before?: TellingRow | null): string[] => {
  const entries = Object.entries(row.bySource ?? {})
  if (entries.length === 0) return []
  return [
    '  by source:',
    ...entries.flatMap(([name, own]) => linesOf(name, row, own, before?.bySource?.[name])),
  ]
}

/** `step 20, real: correct and proved 41.0%, answers right 80.0%; greedy 52.0% and 84.0% (100 problems)`. */
export const evalLine = (row: EvalRow): string => {
  const headline = headlineScores([row])
  const scores = headline.map(name => `${describeScore(name, [row])} ${percent(scoreValue(row, name))}`)
  const greedy = headline.map(greedyName).flatMap(name => scoreValue(row, name) ?? [])
  const decoded = greedy.length > 0 ? `; greedy ${greedy.map(percent).join(' and ')}` : ''
  const sources = Object.entries(row.bySource ?? {}).map(
    ([name, own]) => `; ${name} ${percent(own.scores.accuracy?.value)} right`,
  )
  const over = [plural(row.n, 'problem'), missingVerdicts(row)].filter(part => part !== null).join(', ')
  return `step ${row.step}, ${row.set}: ${scores.join(', ')}${decoded}${sources.join('')} (${over})`
}
