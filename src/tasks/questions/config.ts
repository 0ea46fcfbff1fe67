/** @file Settings of a task of questions, as a recipe's `task` section has them. */

import { z } from 'zod'
import { columnsSchema } from '../../util/columns.ts'
import { natural } from '../../util/setting-shapes.ts'
import { QUESTION_FORMATS } from './formats.ts'

/** Parts of the section; a recipe may add a `kind`, or give other defaults. */
export const questionTaskShape = {
  format: z.enum(QUESTION_FORMATS).default('plain').describe('What the rows of the file look like.'),
  file: z.string().nullable().default(null).describe('Questions to train on.'),
  columns: columnsSchema.optional(),
  holdOut: z
    .int()
    .min(0)
    .nullable()
    .default(null)
    .describe(
      'So many of them are kept for evaluation, always the same ones; null: the share of the paper that used such a file.',
    ),
  testFile: z
    .string()
    .nullable()
    .default(null)
    .describe('Questions for evaluation from a file of their own, in place of `holdOut`.'),
  testFormat: z
    .enum(QUESTION_FORMATS)
    .nullable()
    .default(null)
    .describe('The format of `testFile`; null: as `format`.'),
  thinkTags: z
    .enum(['required', 'optional'])
    .default('optional')
    .describe(
      '`required`: a response without `</think>` has no answer (RiT). `optional`: it is thinking and answer in one, and counts as long as it was not cut off (RLCER).',
    ),
  askToThink: z
    .boolean()
    .default(false)
    .describe(
      'Say in the prompt that thinking goes between tags: for models whose template does not see to that.',
    ),
  maxPromptTokens: natural.default(4096).describe('Questions with longer prompts are left out and counted.'),
  maxRubricatorTokens: natural
    .default(16_384)
    .describe(
      'Longest prompt of a rubricator: of a response that is too long for it, the middle is left out.',
    ),
}

/** Further sets for evaluation, for recipes that have them. */
export const moreTestsSchema = z.record(
  z.string().min(1),
  z.strictObject({
    file: z.string().describe('Questions of the set.'),
    format: z.enum(QUESTION_FORMATS).describe('What its rows look like.'),
  }),
)

export const questionTaskSchema = z.strictObject(questionTaskShape)
export type QuestionTaskConfig = z.output<typeof questionTaskSchema> & {
  tests?: Readonly<z.output<typeof moreTestsSchema>>
}
