/** @file One row of a file of answers to verify. */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { mathEqual } from './compare/equal.ts'

const answer = z.union([z.string(), z.number()]).transform(String)

/** Rows of public files carry keys of their own (source, kind, ...): they are let be. */
const rowSchema = z.object({
  gold: answer,
  pred: answer,
  precision: z.number().int().min(0).max(15).optional(),
  listOrder: z.enum(['matters', 'free']).optional(),
})

/**
 * Verifies `{gold, pred}`; either may be a bare answer or a whole response.
 * @throws DataError naming the key that cannot be used
 */
export const verifyMathRow = (row: unknown): { equal: boolean | null } => {
  const { gold, pred, ...options } = parseWith(rowSchema, row, '', DataError)
  return { equal: mathEqual(gold, pred, options) }
}
