/** @file Graded criteria: what each score on a criterion's own scale looks like, and a score as credit. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'

/** Far beyond any use, and so small that sums and products of a rubric's numbers stay finite. */
const MOST = 1e100

/** A number of a rubric. */
export const boundedNumber = z.number().min(-MOST).max(MOST)

/** Levels that a tree may have. */
export const MOST_TREE_LEVELS = 200

/** Levels of what should be a tree, counted without recursion; never more than `most` + 1. */
export const levelsOf = (root: unknown, most: number): number => {
  let level = [root]
  let count = 0
  while (level.length > 0 && count <= most) {
    count += 1
    level = level.flatMap(node => {
      const children = (node as { children?: unknown } | null)?.children
      return Array.isArray(children) ? children : []
    })
  }
  return count
}

/** Description of one score, or of a band of scores, on a criterion's scale. */
export interface ScoreLevel {
  low: number
  /** Equal to `low` where the level is a single score. */
  high: number
  text: string
}

/** Shape of a level in a file. */
export const levelSchema = z
  .strictObject({ low: boundedNumber, high: boundedNumber, text: z.string() })
  .refine(({ low, high }) => low <= high, 'low at most high; swap them')

/** Lowest and highest score of a scale. */
export const scaleOf = (levels: readonly ScoreLevel[]): { min: number; max: number } => ({
  min: Math.min(...levels.map(({ low }) => low)),
  max: Math.max(...levels.map(({ high }) => high)),
})

/**
 * Credit in [0, 1] of a score on a scale: 0 for its lowest score, 1 for its highest, linear between.
 * @throws DataError for a score off the scale, or a scale of one score.
 */
export const creditOnScale = (levels: readonly ScoreLevel[], score: number): number => {
  const { min, max } = scaleOf(levels)
  if (!(score >= min && score <= max))
    throw new DataError(`score: expected a number from ${min} to ${max}, got ${score}; keep to the scale`)
  if (max === min) throw new DataError(`levels: expected at least two scores, got only ${min}; add a level`)
  return (score - min) / (max - min)
}
