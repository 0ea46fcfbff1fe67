/** @file Settings of a task of questions, as a recipe's `task` section has them. */

import { z } from 'zod'
import { QUESTION_FORMATS } from './formats.ts'

const size = z.int().positive()

/** Parts of the section; a recipe may add a `kind`, or give other defaults. */
export const questionTaskShape = {
  /** What the rows of the file look like. */
  format: z.enum(QUESTION_FORMATS).default('plain'),
  /** Questions to train on. */
  file: z.string().nullable().default(null),
  /** So many of them are kept for evaluation, always the same ones; null: the share of the paper that used such a file. */
  holdOut: z.int().min(0).nullable().default(null),
  /** Questions for evaluation from a file of their own, in place of `holdOut`. */
  testFile: z.string().nullable().default(null),
  /** The format of `testFile`; null: as `format`. */
  testFormat: z.enum(QUESTION_FORMATS).nullable().default(null),
  /**
   * `required`: a response without `</think>` has no answer (RiT). `optional`: it is thinking and answer in one, and counts as
   * long as it was not cut off (RLCER).
   */
  thinkTags: z.enum(['required', 'optional']).default('optional'),
  /** Say in the prompt that thinking goes between tags: for models whose template does not see to that. */
  askToThink: z.boolean().default(false),
  /** Questions with longer prompts are left out and counted. */
  maxPromptTokens: size.default(4096),
  /** Longest prompt of a rubricator: of a response that is too long for it, the middle is left out. */
  maxRubricatorTokens: size.default(16_384),
}

export const questionTaskSchema = z.strictObject(questionTaskShape)
export type QuestionTaskConfig = z.output<typeof questionTaskSchema>
