/** @file What is known of a graded response: each step, the criteria and what the steps prove together. */

import type { ExtractedAnswer } from './answer.ts'
import type { ProblemContext, ReadStep } from './context.ts'
import type { Formula } from './formula.ts'
import type { LogicLabel, LogicProblem } from './problem.ts'
import type { LogicCriterion } from './rubric.ts'
import type { ProxySettings } from './settings.ts'
import type { StepStatus } from './solver.ts'
import type { ExtractedReasoning, InferenceRule } from './steps.ts'

export interface LogicGradeOptions {
  /** Work out C4 and C5 as they really are, beside the training proxies. For evaluation: it asks the solver more. */
  truth?: boolean
  /** Leave steps out of C2 that repeat a premise or an earlier step, or that hold without premises. Default off, as in the paper. */
  noveltyDiscount?: boolean
  /** Check that each derived step follows from the steps before it: by the ground solver where it can tell, else by Z3. Default on. */
  support?: boolean
  /** What the training proxies of C4 and C5 ask for. Default as in `proxySchema`. */
  proxies?: ProxySettings
}

export interface StepGrade {
  /** The number that the step carries. */
  number: number
  text: string
  /** Offsets in the response, from the number to the end of the statement and its annotation. */
  span: [start: number, end: number]
  rule: InferenceRule | null
  formula: Formula | null
  /** As the solver has it; `unverifiable` for unreadable steps that name a known rule. */
  status: StepStatus | 'unverifiable'
  /** 0, .3, .5 or 1; null when nothing can be said: inconsistent premises, or a solver that failed. */
  credit: number | null
  /** Index of the premise that the step restates, or null. */
  premise: number | null
  tautology: boolean
  /** Says what an earlier step said. */
  repeated: boolean
  foreign: boolean
  /** A premise, or follows from the valid steps before it and the premises it refers to; null when that was not asked. */
  supported: boolean | null
  /** False when the novelty discount leaves the step out of C2. */
  counted: boolean
}

export interface LogicGrade {
  problemId: string
  /** Set when the item is faulty, the response too long, or the solver failed on it, so that it is left out of every mean. */
  excluded: 'inconsistent-premises' | 'solver-failed' | 'too-long' | null
  answer: LogicLabel | null
  /** The last answer with its tags, as offsets in the response. */
  answerSpan: [start: number, end: number] | null
  answerCorrect: boolean
  steps: StepGrade[]
  /** In [0, 1]; C4 and C5 by the training proxies. C2 is null for an excluded item; of one that is too long only C1 is known. */
  criteria: Record<LogicCriterion, number | null>
  /**
   * C4 and C5 as they really are, when asked for. C4 is null where no minimal proof exists, both where the conclusion has no
   * formula.
   */
  truth: { C4: number | null; C5: number | null } | null
  /**
   * Every step is entailed (and there is one), and they settle the question, whatever the answer says. This and the next two
   * are null where the conclusion has no formula.
   */
  validProof: boolean | null
  /** The answer is right and the proof valid. */
  correctAndValid: boolean | null
  /** Also every step is a premise or follows from the steps before it: no step was asserted over the heads of others. */
  correctAndProved: boolean | null
  /** Entailed steps before the first that is not. */
  validPrefix: number
  /** Steps of the reference proof; 0 without one. */
  requiredSteps: number
  /** The exploits that the rubric leaves open, measured. */
  flags: Record<string, number>
}

export interface LogicItem {
  problem: LogicProblem
  response: string
}

/** A response, read but not yet checked. */
export interface Draft {
  context: ProblemContext
  response: string
  answer: ExtractedAnswer
  reasoning: ExtractedReasoning
  read: ReadStep[]
  tautologies: (boolean | null)[]
  /** The reasoning is longer than is read. */
  tooLong: boolean
}
