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
      "Rows to train on, each a prompt and criteria, in any format of rubric files that has prompts: HealthBench's, or our own.",
    ),
  rubric: z
    .string()
    .optional()
    .describe('File with one rubric that holds for all rows; criteria of a row come on top.'),
  columns: columnsSchema.optional(),
  holdOut: z
    .int()
    .min(0)
    .nullable()
    .default(null)
    .describe('So many rows of the file are kept for evaluation; always the same ones.'),
  testFile: z
    .string()
    .nullable()
    .default(null)
    .describe('Rows for evaluation from a file of their own, in place of `holdOut`.'),
}

/** Of rows that are answered in one turn. */
export const conversationsShape = {
  ...conversationFilesShape,
  maxPromptTokens: z
    .int()
    .positive()
    .default(4096)
    .describe('Conversations with more tokens are left out and counted.'),
  nulls: z
    .enum(['as-false', 'drop'])
    .default('as-false')
    .describe('What a criterion counts as that got no verdict.'),
}

export type ConversationFiles = z.output<z.ZodObject<typeof conversationFilesShape>>
