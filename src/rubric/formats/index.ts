/** @file Rubric files of every format. */

export * from './file.ts'
export type { FileLayout, FormatName, PromptMessage, RubricFile, RubricFormat, RubricItem } from './item.ts'
