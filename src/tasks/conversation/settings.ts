/** @file Settings of rows with conversations and rubrics, as a recipe's `task` section has them. */

import { z } from 'zod'
import { columnsSchema } from '../../util/columns.ts'

/** Where rows come from. */
export const conversationFilesShape = {
  file: z
    .string()
    .nullable()
    .default(null)
    .describe(
      "File of rows to train on, each a prompt with criteria, in any format of rubric files that has prompts: HealthBench's, or our own.",
    ),
  rubric: z
    .string()
    .optional()
    .describe('File with one rubric for all rows, beside the criteria of each row.'),
  columns: columnsSchema.optional(),
  holdOut: z
    .int()
    .min(0)
    .nullable()
    .default(null)
    .describe('Number of rows of the file kept for evaluation, always the same ones; null: none.'),
  testFile: z
    .string()
    .nullable()
    .default(null)
    .describe('File of rows for evaluation, in place of `holdOut`.'),
}

/** Of rows that are answered in one turn. */
export const conversationsShape = {
  ...conversationFilesShape,
  maxPromptTokens: z
    .int()
    .positive()
    .default(4096)
    .describe('Most tokens of a prompt. Conversations with longer ones are left out and counted.'),
  nulls: z
    .enum(['as-false', 'drop'])
    .default('as-false')
    .describe('How a criterion without a verdict counts: as unmet (`as-false`), or not at all (`drop`).'),
}

export type ConversationFiles = z.output<z.ZodObject<typeof conversationFilesShape>>
