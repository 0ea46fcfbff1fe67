/** @file Settings of a task of questions, as a recipe's `task` section has them. */

import { z } from 'zod'
import { columnsSchema } from '../../util/columns.ts'
import { promptSetting } from '../../util/prompt-setting.ts'
import { natural } from '../../util/setting-shapes.ts'
import { QUESTION_FORMATS } from './formats.ts'

/** Prompts of both roles of RLCER, for recipes that have them. */
export const rolePromptsSchema = z.strictObject({
  reasoner: promptSetting(['question'], ['instructions'])
    .optional()
    .describe(
      'Who answers: `{question}`, and `{instructions}` where how to answer is to stand, by the kind of question; hints follow.',
    ),
  rubricator: promptSetting(['question', 'response'])
    .optional()
    .describe('Who writes a rubric: `{question}` and `{response}`, which are quoted.'),
})
export type RolePrompts = z.output<typeof rolePromptsSchema>

/** Parts of the section; a recipe may add a `kind`, or give other defaults. */
export const questionTaskShape = {
  format: z.enum(QUESTION_FORMATS).default('plain').describe('Format of the rows in `file`.'),
  file: z.string().nullable().default(null).describe('File of questions to train on.'),
  columns: columnsSchema.optional(),
  holdOut: z
    .int()
    .min(0)
    .nullable()
    .default(null)
    .describe(
      'Number of questions of the file kept for evaluation, always the same ones; null: the share in the paper that used such a file.',
    ),
  testFile: z
    .string()
    .nullable()
    .default(null)
    .describe('File of questions for evaluation, in place of `holdOut`.'),
  testFormat: z
    .enum(QUESTION_FORMATS)
    .nullable()
    .default(null)
    .describe('Format of the rows in `testFile`; null: as `format`.'),
  thinkTags: z
    .enum(['required', 'optional'])
    .default('optional')
    .describe(
      '`required`: a response without `</think>` has no answer (RiT). `optional`: it is thinking and answer in one, and counts unless it was cut off (RLCER).',
    ),
  askToThink: z
    .boolean()
    .default(false)
    .describe(
      'Say in the prompt that thinking goes between tags, for models whose chat template does not do so.',
    ),
  prompts: rolePromptsSchema
    .omit({ rubricator: true })
    .optional()
    .describe(
      'Prompts in place of the default ones. Each is a file or the text itself, with placeholders in braces; `{{name}}` is the word in braces.',
    ),
  maxPromptTokens: natural
    .default(4096)
    .describe('Most tokens of a prompt. Questions with longer ones are left out and counted.'),
  maxRubricatorTokens: natural
    .default(16_384)
    .describe(
      'Most tokens of the prompt of a rubricator. If a response is too long for it, its middle is left out.',
    ),
}

/** Further sets for evaluation, for recipes that have them. */
export const moreTestsSchema = z.record(
  // Names that are numbers would come before all others in an object.
  z.string().regex(/^[a-z]/i, 'a name that begins with a letter'),
  z.strictObject({
    file: z.string().describe('File of the questions of the set.'),
    format: z.enum(QUESTION_FORMATS).describe('Format of the rows in this file.'),
  }),
)

export const questionTaskSchema = z.strictObject(questionTaskShape)
export type QuestionTaskConfig = z.output<typeof questionTaskSchema> & {
  tests?: Readonly<z.output<typeof moreTestsSchema>>
  prompts?: RolePrompts
}
