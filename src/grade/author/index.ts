/** @file Writing rubrics: by a model from a reference answer, in rounds from examples, or from a bank of predicates. */

export type { Authored, AuthorOptions } from './ask.ts'
export {
  type AuthorRound,
  type BankAuthorOptions,
  bankAuthor,
  type ChatAuthorOptions,
  chatAuthor,
  type RubricAuthor,
  type WrittenRubric,
} from './author.ts'
export * from './from-bank.ts'
export { COVERAGE, generateRubric, type QuestionWithAnswer } from './generate.ts'
export { proposeRubric, type Refined, type RefineOptions, refineRubric } from './refine.ts'
export type { RefineRound } from './revision.ts'
export type { RubricSubject } from './task-prompt.ts'
