/** @file Which questions rlcer trains on: settings. */

import { z } from 'zod'
import { questionTaskShape } from '../../tasks/questions/index.ts'
import { operationsSchema } from '../arithmetic-cold-start/config.ts'

const size = z.int().positive()

/** The miniature: chains of operations with shown steps, criteria that are executed. */
const arithmeticSchema = z.strictObject({
  kind: z.literal('arithmetic'),
  operations: operationsSchema.prefault({}),
  /** Questions to train on, which recur; null: new ones without end. */
  pool: size.nullable().default(null),
  /** Criteria that read the last result count as well (spec 2.4); else nobody can decide them. */
  outcomes: z.boolean().default(false),
})

/** Rows of a file, answered by a chat model. */
const questionsSchema = z.strictObject({ kind: z.literal('questions'), ...questionTaskShape })

export const taskSchema = z.discriminatedUnion('kind', [arithmeticSchema, questionsSchema])

export type ArithmeticConfig = z.output<typeof arithmeticSchema>
export type QuestionsConfig = z.output<typeof questionsSchema>
