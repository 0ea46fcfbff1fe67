/** @file The scores of an evaluation: which there are, in which order they stand, what they are called. */

import { type EvalItem, type EvalRow, scoreName } from '../rows.ts'

/** The scores that evaluations and their items may carry. */
export type Score = Exclude<keyof EvalItem, 'id' | 'criteria'>

export const SCORES: readonly Score[] = [
  'correctAndValid',
  'accuracy',
  'greedyCorrectAndValid',
  'greedyAccuracy',
]

/** A score in words. `accuracy` is not the same figure in every recipe; rows of different ones give both names. */
export const scoreWords = (score: Score, rows: readonly EvalRow[]): string => {
  const names = [...new Set(rows.map(row => scoreName([row])))].join(' and ')
  const words: Record<Score, string> = {
    correctAndValid: 'correct and valid',
    accuracy: names,
    greedyCorrectAndValid: 'greedy: correct and valid',
    greedyAccuracy: `greedy: ${names}`,
  }
  return words[score]
}
