/** @file A graded response to a logic problem as it is kept for reading: the answer, whether it is proved, each step with its status. */

import type { LogicGrade, StepGrade } from '../../grade/logic/grade.ts'
import type { RolloutRow, RolloutStep } from '../../runs/rows.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'

type GradedFields = Pick<RolloutRow, 'answer' | 'gold' | 'correct' | 'valid' | 'proved' | 'steps'>

/** What a kept row says of a grade. */
export const gradedFields = (
  { label }: Pick<LogicTaskExample, 'label'>,
  grade: LogicGrade,
): GradedFields => ({
  answer: grade.answer,
  gold: label,
  correct: grade.answerCorrect,
  ...(grade.excluded === null && proofFields(grade)),
  steps: grade.steps.map(stepRow),
})

/** Nothing is said where it is not known. */
const proofFields = ({ correctAndValid: valid, correctAndProved: proved }: LogicGrade) => ({
  ...(valid !== null && { valid }),
  ...(proved !== null && { proved }),
})

const stepRow = ({
  text,
  status,
  credit,
  premise,
  tautology,
  repeated,
  supported,
}: StepGrade): RolloutStep => ({
  text,
  status,
  ...(credit !== null && { credit }),
  flags: [
    ...(premise === null ? [] : ['premise']),
    ...(tautology ? ['tautology'] : []),
    ...(repeated ? ['repeat'] : []),
    ...(supported === false && status === 'entailed' ? ['skips'] : []),
  ],
})
