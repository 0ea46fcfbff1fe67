/** @file How many test problems an evaluation takes: all at the end, fewer on the way there. */

export interface EvaluatedSteps {
  steps: number
  evaluation: { problems: number; problemsAtStart?: number; problemsBetween: number }
}

/** Problems of the evaluation after a step; 0 is before the first. A run without steps has its only evaluation there. */
export const testProblems = ({ steps, evaluation }: EvaluatedSteps, step: number, last: boolean): number => {
  if (last || steps === 0) return evaluation.problems
  return step === 0 ? (evaluation.problemsAtStart ?? evaluation.problems) : evaluation.problemsBetween
}
