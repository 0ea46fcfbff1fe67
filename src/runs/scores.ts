/** @file The scores of evaluations: which there are, in which order they stand, what they are called. */

import { percent } from '../util/format.ts'
import type { EvalRow } from './rows.ts'

const GREEDY = 'greedy.'

/** The name of a score that is decoded greedily beside samples: `accuracy` -> `greedy.accuracy`. */
export const greedyName = (name: string): string => `${GREEDY}${name}`

/** The value of a row's score; null where the row has none. */
export const scoreValue = (row: EvalRow | undefined, name: string): number | null =>
  row?.scores[name]?.value ?? null

type ScoredRow = Pick<EvalRow, 'scores' | 'primary' | 'scoreNames'>

/** All names of scores of some rows: primary ones first, greedy ones last. */
export const scoreNamesOf = (rows: readonly ScoredRow[]): string[] => {
  const found = [...new Set(rows.flatMap(({ scores }) => Object.keys(scores)))]
  const primary = new Set(rows.map(row => row.primary))
  const rank = (name: string): number => {
    const isGreedy = name.startsWith(GREEDY)
    const isPrimary = primary.has(isGreedy ? name.slice(GREEDY.length) : name)
    return 2 * Number(isGreedy) + Number(!isPrimary)
  }
  return found.sort((a, b) => rank(a) - rank(b))
}

/** What a report is headed by: the primary score, and right answers where that is another. */
export const headlineScores = (rows: readonly ScoredRow[]): string[] => {
  const sampled = scoreNamesOf(rows).filter(name => !name.startsWith(GREEDY))
  return sampled.filter(name => name === 'accuracy' || rows.some(({ primary }) => primary === name))
}

/** A score in words: what the rows call it, every way that they do. */
export const describeScore = (name: string, rows: readonly ScoredRow[]): string => {
  if (name.startsWith(GREEDY)) return `greedy: ${describeScore(name.slice(GREEDY.length), rows)}`
  const having = rows.filter(({ scores }) => name in scores || greedyName(name) in scores)
  const words = [...new Set(having.map(({ scoreNames }) => scoreNames?.[name] ?? name))]
  return words.length > 0 ? words.join(' and ') : name
}

/** `3.1% of verdicts missing`: those that graders failed to give in an evaluation. Null where none are. */
export const missingVerdicts = ({
  judgeNullRate: rate = 0,
}: Pick<EvalRow, 'judgeNullRate'>): string | null => {
  if (rate <= 0) return null
  return `${rate < 0.0005 ? 'less than 0.1%' : percent(rate)} of verdicts missing`
}
