/** @file Questions of public data, for chat models that think before they answer. */

export { answerVerdict } from './answers.ts'
export {
  moreTestsSchema,
  type QuestionTaskConfig,
  questionTaskSchema,
  questionTaskShape,
  type RolePrompts,
  rolePromptsSchema,
} from './config.ts'
export { QUESTION_FORMATS, type QuestionFormat } from './formats.ts'
export { maskAnswers } from './mask.ts'
export { needResponseJudge, type OpenQuestionsOptions, openQuestions, QUESTIONS_TEST } from './open.ts'
export { hintText, reasonerMessages, rubricatorMessages } from './prompts.ts'
export * from './question.ts'
export * from './rows.ts'
export { describeQuestionFiles, type QuestionSizes, questionSizes } from './sizes.ts'
export { distinctRows, type RowSplit, type RowsToSplit, splitRows } from './split.ts'
export { type QuestionTaskOptions, questionTask } from './task.ts'
export * from './two-roles.ts'
export * from './verdict-lists.ts'
export { WRITING_QUALITY } from './writing.ts'
