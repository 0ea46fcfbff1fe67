/** @file Measuring models: tasks with their scores, answers that are kept, figures with intervals, comparisons. */

export { type Answer, AnswerFile, type AskSettings, answerLines, SavedAnswers } from './answers.ts'
export { type AskEvents, type Asked, askAll } from './ask.ts'
export { compare, type PairedFigure } from './compare.ts'
export { type FigureName, figureNames, type GradedAnswer, type Measured, measure } from './figures.ts'
export { type Graders, gradeAll, type NamedJudge, savedAnswer } from './grading.ts'
export type { MeasuredProblem, MeasuredTask } from './task.ts'
export { figureTable } from './words.ts'
