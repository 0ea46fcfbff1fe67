/** @file Which questions rlcer trains on: settings. */

import { z } from 'zod'
import { questionTaskShape } from '../../tasks/questions/index.ts'
import { LOGIC_THINKING } from '../common/logic-miniature.ts'
import { MINIATURES } from '../common/miniatures.ts'

/** The miniature: chains of operations with shown steps, criteria that are executed. */
const arithmeticSchema = z.strictObject({
  kind: z.literal('arithmetic').describe('Which kind; each has keys of its own.'),
  ...MINIATURES.arithmetic.settings.shape,
})

/** The same with proofs: what `logic-rubric-start` makes a model for. */
const logicSchema = z.strictObject({
  kind: z.literal('logic').describe('Which kind; each has keys of its own.'),
  ...LOGIC_THINKING.settings.shape,
})

/** Rows of a file, answered by a chat model. */
const questionsSchema = z.strictObject({
  kind: z.literal('questions').describe('Which kind; each has keys of its own.'),
  ...questionTaskShape,
})

export const taskSchema = z.discriminatedUnion('kind', [arithmeticSchema, logicSchema, questionsSchema])

export type QuestionsConfig = z.output<typeof questionsSchema>
