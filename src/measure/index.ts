/** @file Measuring models: tasks with their scores, answers that are kept, metrics with intervals, comparisons. */

export { AnswerFile, type AskSettings, answerLines, type SavedAnswer, SavedAnswers } from './answers.ts'
export { type Ask, type Asked, type AskedPolicy, askAll, askInText, askInTokens, askInTurns } from './ask.ts'
export {
  type Audit,
  type AuditedEdit,
  type AuditValue,
  auditOf,
  editedAnswers,
  type PaidAnswer,
  paid,
  referenceAnswer,
} from './audit.ts'
export { type PairedMetric, pairedDifferences } from './compare.ts'
export { GRADING, type Graders, gradeAll, type NamedJudge, savedAnswer } from './grading.ts'
export {
  type GradedAnswer,
  isSilent,
  type Measured,
  type MetricName,
  measure,
  metricNames,
} from './metrics.ts'
export { spoken } from './spoken.ts'
export {
  type MeasuredKind,
  type MeasuredProblem,
  type MeasuredTask,
  measuredProblems,
  measuredTask,
} from './task.ts'
export { measureTable } from './words.ts'
