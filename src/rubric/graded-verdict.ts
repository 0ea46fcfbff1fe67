/** @file Verdicts as rows of graded data write them. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { describeValue, parseWith } from '../util/schema.ts'
import type { Verdict } from './criterion.ts'

export interface GradedRowOptions {
  /** A bare number as a verdict is a level 0, 1, 2; otherwise a credit in [0, 1]. Default false. */
  levels?: boolean
}

/**
 * A list of verdicts, one for each id, in order.
 * @throws DataError for a list of another length: a short list is never aligned by guess.
 */
export const verdictList = (value: unknown, ids: readonly string[], options: GradedRowOptions): Verdict[] => {
  if (!Array.isArray(value))
    throw new DataError(
      `verdicts: expected a list, got ${describeValue(value)}; give true, false or null for each criterion`,
    )
  if (value.length !== ids.length)
    throw new DataError(
      `verdicts: expected ${ids.length}, one a criterion, got ${value.length}; write null where there is none`,
    )
  return value.map((entry, index) => readVerdict(entry, ids[index], `verdicts[${index}]`, options))
}

const verdictObject = z.looseObject({
  criterionId: z.string().optional(),
  met: z.boolean().nullable(),
  credit: z.number().min(0).max(1).optional(),
  level: z.literal([0, 1, 2]).optional(),
})

/**
 * One verdict: true, false, null, a number, or an object `{met, credit?, level?}`.
 * @throws DataError for anything else, also for "true" as a text.
 */
export const readVerdict = (
  value: unknown,
  criterionId: string,
  place: string,
  { levels = false }: GradedRowOptions,
): Verdict => {
  const common = { criterionId, source: 'llm' } as const
  if (value === null || typeof value === 'boolean') return { ...common, met: value }
  if (typeof value === 'number') return { ...common, ...readNumber(value, place, levels) }
  if (typeof value !== 'object')
    throw new DataError(
      `${place}: expected true, false, null, a number or an object with met, got ${describeValue(value)}; a verdict is no text`,
    )
  const {
    met,
    credit,
    level,
    criterionId: named = criterionId,
  } = parseWith(verdictObject, value, place, DataError)
  if (named !== criterionId)
    throw new DataError(
      `${place}.criterionId: expected ${JSON.stringify(criterionId)}, got ${JSON.stringify(named)}; order verdicts as the criteria are`,
    )
  return {
    ...common,
    met,
    ...(credit === undefined ? {} : { credit }),
    ...(level === undefined ? {} : { level }),
  }
}

const readNumber = (
  value: number,
  place: string,
  levels: boolean,
): Pick<Verdict, 'met' | 'credit' | 'level'> => {
  if (levels && (value === 0 || value === 1 || value === 2)) return { met: value === 2, level: value }
  if (levels) throw new DataError(`${place}: expected level 0, 1 or 2, got ${value}; this rule reads levels`)
  if (!(value >= 0 && value <= 1))
    throw new DataError(`${place}: expected a credit from 0 to 1, got ${value}; rule levels reads 0, 1, 2`)
  return { met: value === 1, credit: value }
}
