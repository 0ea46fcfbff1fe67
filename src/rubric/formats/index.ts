/** @file Rubric files of every format. */

export * from './file.ts'
export type { FormatName, Layout, PromptMessage, RubricFile, RubricFormat, RubricItem } from './item.ts'
