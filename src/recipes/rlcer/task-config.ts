/** @file Which questions rlcer trains on: settings. */

import { z } from 'zod'
import { operationsSchema } from '../../tasks/arithmetic/settings.ts'
import { questionTaskShape } from '../../tasks/questions/index.ts'
import { logicProblemsSchema } from '../logic-rubric-start/config.ts'

const size = z.int().positive()

const miniatureShape = {
  pool: size
    .max(1_000_000)
    .nullable()
    .default(null)
    .describe('Questions to train on, which recur; null: new ones without end.'),
  outcomes: z
    .boolean()
    .default(false)
    .describe('Criteria that read the last result count as well (spec 2.4); else nobody can decide them.'),
}

/** The miniature: chains of operations with shown steps, criteria that are executed. */
const arithmeticSchema = z.strictObject({
  kind: z.literal('arithmetic').describe('Which kind; each has keys of its own.'),
  operations: operationsSchema.prefault({}).describe('Operations of a question.'),
  ...miniatureShape,
})

/** The same with proofs: what `logic-rubric-start` makes a model for. */
const logicSchema = z.strictObject({
  kind: z.literal('logic').describe('Which kind; each has keys of its own.'),
  ...logicProblemsSchema.shape,
  ...miniatureShape,
})

/** Rows of a file, answered by a chat model. */
const questionsSchema = z.strictObject({
  kind: z.literal('questions').describe('Which kind; each has keys of its own.'),
  ...questionTaskShape,
})

export const taskSchema = z.discriminatedUnion('kind', [arithmeticSchema, logicSchema, questionsSchema])

export type QuestionsConfig = z.output<typeof questionsSchema>
