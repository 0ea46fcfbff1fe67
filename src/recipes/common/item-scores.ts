/** @file Scores of an evaluation from those of its items: means with bootstrap intervals over problems. */

import type { EvalItem, EvalRow, Score } from '../../runs/rows.ts'
import { bootstrapInterval, mean } from '../../util/statistics.ts'

const scored = (values: readonly number[]): Score => {
  if (values.length === 0) return { value: null }
  const { low, high } = bootstrapInterval(values, { resamples: 2000, seed: 'evaluation' })
  return { value: mean(values), interval: [low, high] }
}

/** The scores of a row from those of its items. */
export const scoresOf = (items: readonly EvalItem[], names: readonly string[]): EvalRow['scores'] =>
  Object.fromEntries(names.map(name => [name, scored(items.flatMap(({ scores }) => scores[name] ?? []))]))
