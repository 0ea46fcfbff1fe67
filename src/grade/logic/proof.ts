/** @file What a response's steps make together: whether each is supported, and whether they settle the question. */

import type { Draft, LogicGradeOptions, StepGrade } from './grade.ts'
import type { LogicSolver } from './solver.ts'
import { SolverError } from './solver-process.ts'
import { type JudgedStep, supportedSteps } from './support.ts'
import { completeness, premiseUse, settles } from './truth.ts'

const judgedSteps = ({ reasoning, read }: Draft, steps: readonly StepGrade[]): JudgedStep[] =>
  steps.map((step, index) => ({
    formula: step.formula,
    key: read[index].key,
    premise: step.premise,
    entailed: step.status === 'entailed',
    refs: reasoning.steps[index].refs,
  }))

/**
 * What the solver says of the steps together, once it is known of each whether the premises entail it: support, whether they
 * settle the question, C4 and C5 as they really are. Null when it failed on some of it.
 */
export const proofOf = async (
  draft: Draft,
  steps: readonly StepGrade[],
  solver: LogicSolver,
  { support = true, truth = false }: LogicGradeOptions,
) => {
  const { context } = draft
  const judged = judgedSteps(draft, steps)
  const allEntailed = steps.every(step => step.status === 'entailed')
  try {
    return {
      supported: support ? await supportedSteps(context, judged, solver, 'count') : null,
      // Without a formula of the conclusion nothing is said of it: `settles` is null, whatever the steps are.
      validProof: allEntailed ? await settles(context, judged, solver) : false,
      truth: truth
        ? { C4: await premiseUse(context, judged, solver), C5: await completeness(context, judged, solver) }
        : null,
    }
  } catch (error) {
    if (error instanceof SolverError) return null
    throw error
  }
}
