/** @file Measuring models: tasks with their scores, answers that are kept, figures with intervals, comparisons. */

export { AnswerFile, type AskSettings, answerLines, type SavedAnswer, SavedAnswers } from './answers.ts'
export { type Ask, type Asked, type AskedPolicy, askAll, askInText, askInTokens, askInTurns } from './ask.ts'
export {
  type Audit,
  type AuditedEdit,
  type AuditFigure,
  auditOf,
  editedAnswers,
  type PaidAnswer,
  paid,
  referenceAnswer,
} from './audit.ts'
export { type PairedFigure, pairedDifferences } from './compare.ts'
export {
  type FigureName,
  figureNames,
  type GradedAnswer,
  isSilent,
  type Measured,
  measure,
} from './figures.ts'
export { GRADING, type Graders, gradeAll, type NamedJudge, savedAnswer } from './grading.ts'
export { spoken } from './spoken.ts'
export {
  type MeasuredKind,
  type MeasuredProblem,
  type MeasuredTask,
  measuredProblems,
  measuredTask,
} from './task.ts'
export { measureTable } from './words.ts'
