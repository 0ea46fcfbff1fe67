/** @file Score levels that a file writes as keys of the criterion itself: `3-4` or `score3_description`. */

import { DataError } from '../../util/errors.ts'
import type { ScoreLevel } from '../levels.ts'
import type { Fields } from './item.ts'

/**
 * Levels among the keys of a criterion, ascending.
 * @param pattern its first group is the lowest score of a level, its second, if any, the highest
 * @throws DataError for a level that is no text, or fewer than two levels.
 */
export const levelsByKey = (row: Fields, pattern: RegExp, place: string): ScoreLevel[] => {
  const levels = Object.entries(row).flatMap(([key, text]): ScoreLevel[] => {
    const [, low, high = low] = pattern.exec(key) ?? []
    if (low === undefined) return []
    if (typeof text !== 'string')
      throw new DataError(`${place}.${key}: expected a text, got ${typeof text}; describe the level`)
    return [{ low: Number(low), high: Number(high), text }]
  })
  if (levels.length < 2)
    throw new DataError(
      `${place}: expected at least two levels (keys like ${pattern.source}), got ${levels.length}`,
    )
  return levels.sort((a, b) => a.low - b.low)
}
