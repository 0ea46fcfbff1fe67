/** @file Verifies answers against gold ones: of a response, and in a row of a file. */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { expectation, isSame, type MathOptions, mathEqual } from './compare/equal.ts'
import { cleaned } from './read/clean.ts'
import { extractAnswer, isResponse } from './read/extract.ts'

export interface MathGrade {
  /** Null where it is undecided; false also where the response gives no answer. */
  equal: boolean | null
  /** The answer that was found in the response. */
  answer: string | null
}

/**
 * Extracts the answer of a whole response, knowing what kind of answer the gold one is, and compares. Never throws.
 * @example
 * gradeMath('7', 'Three and four make \\boxed{7}.') // { equal: true, answer: '7' }
 */
export const gradeMath = (gold: string, response: string, options: MathOptions = {}): MathGrade => {
  if (isSame(gold, response)) return { equal: true, answer: response.trim() }
  const goldAnswer = isResponse(gold) ? (extractAnswer(gold) ?? gold) : gold
  const expect = expectation(cleaned(goldAnswer))
  const isBare = !isResponse(response) && response.length <= 200 && expect !== 'choice'
  const answer = isBare ? response.trim() : extractAnswer(response, { expect })
  if (answer === null || answer === '') return { equal: false, answer: null }
  return { equal: mathEqual(goldAnswer, answer, { ...options, extract: false }), answer }
}

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
