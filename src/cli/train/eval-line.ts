/** @file An evaluation in a line, as it is reported while a run goes on. */

import type { EvalRow } from '../../runs/rows.ts'
import { describeScore, greedyName, headlineScores, missingVerdicts, scoreValue } from '../../runs/scores.ts'
import { percent, plural } from '../../util/format.ts'

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
