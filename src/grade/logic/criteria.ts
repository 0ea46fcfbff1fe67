/** @file The five criteria of the logic rubric, C1 to C5, for whole batches of responses (spec 6.2, 6.3). */

import type { Rubric, Verdict } from '../../rubric/index.ts'
import { type ExtractedAnswer, extractLabel } from './answer.ts'
import { contextOf, type ProblemContext, type ReadStep } from './context.ts'
import { exploitFlags, isTautology, tagsOf } from './exploits.ts'
import type { Formula } from './formula.ts'
import type { LogicLabel, LogicProblem } from './problem.ts'
import { completenessProxy, premiseUseProxy } from './proxies.ts'
import { type LogicSolver, STEP_CREDIT, type StepQuery, type StepStatus } from './solver.ts'
import { type ExtractedReasoning, extractReasoning, type Rule, type StepText } from './steps.ts'
import { completeness, type JudgedStep, premiseUse, settles } from './truth.ts'

/** The rubric with the paper's weights (spec 6.2); reward is 3 times the weighted sum. */
export const LOGIC_RUBRIC: Rubric = {
  id: 'logic',
  criteria: [
    { id: 'C1', text: 'The answer is right.', points: 0.3, category: 'answer' },
    { id: 'C2', text: 'Every step follows from the premises.', points: 0.25, category: 'validity' },
    {
      id: 'C3',
      text: 'The response has all tags and at least two numbered steps.',
      points: 0.1,
      category: 'format',
    },
    { id: 'C4', text: 'The reasoning uses the premises that it needs.', points: 0.15, category: 'premises' },
    { id: 'C5', text: 'The reasoning is complete.', points: 0.2, category: 'completeness' },
  ],
}

export type LogicCriterion = 'C1' | 'C2' | 'C3' | 'C4' | 'C5'

export interface LogicGradeOptions {
  /** Work out C4 and C5 as they really are, beside the training proxies. For evaluation: it asks the solver more. */
  truth?: boolean
  /** Leave steps out of C2 that repeat a premise or an earlier step, or that hold without premises. Default off, as in the paper. */
  noveltyDiscount?: boolean
  /** Check that each derived step follows from the steps before it. Default on; outside the ground fragment only with `truth`. */
  support?: boolean
}

export interface StepGrade {
  /** The number that the step carries. */
  number: number
  text: string
  /** Offsets in the response, from the number to the end of the statement and its annotation. */
  span: [start: number, end: number]
  rule: Rule | null
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
  /** A premise, or follows from the valid steps before it and the premises it refers to; null when that was not worked out. */
  supported: boolean | null
  /** False when the novelty discount leaves the step out of C2. */
  counted: boolean
}

export interface LogicGrade {
  problemId: string
  /** Set when the item is faulty, or the solver failed on it, so that it must be left out of every mean. */
  excluded: 'inconsistent-premises' | 'solver-failed' | null
  answer: LogicLabel | null
  /** The last answer with its tags, as offsets in the response. */
  answerSpan: [start: number, end: number] | null
  answerCorrect: boolean
  steps: StepGrade[]
  /** In [0, 1]; C4 and C5 by the training proxies. C2 is null for an excluded item. */
  criteria: Record<LogicCriterion, number | null>
  /** C4 and C5 as they really are, when asked for. C4 is null where no minimal proof exists. */
  truth: { C4: number | null; C5: number } | null
  /** Every step is entailed (and there is one), and they settle the question, whatever the answer says. */
  validProof: boolean
  /** The answer is right and the proof valid. */
  correctAndValid: boolean
  /** Also every step is a premise or follows from the steps before it: no step was asserted over the heads of others. */
  correctAndProved: boolean
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

interface Draft {
  context: ProblemContext
  response: string
  answer: ExtractedAnswer
  reasoning: ExtractedReasoning
  read: ReadStep[]
  tautologies: (boolean | null)[]
}

const draftOf = ({ problem, response }: LogicItem): Draft => {
  const context = contextOf(problem)
  const reasoning = extractReasoning(response)
  const read = reasoning.steps.map(step => context.read(step.text))
  const tautologies = read.map(({ formula, premise }) =>
    formula === null || premise !== null ? false : isTautology(formula),
  )
  return { context, response, answer: extractLabel(response), reasoning, read, tautologies }
}

const NO_PREMISES: readonly Formula[] = []

/** Everything that has to be asked of the solver, in one call: statuses first, then the tautologies left open. */
const ask = async (drafts: readonly Draft[], solver: LogicSolver) => {
  const queries: StepQuery[] = []
  for (const { context, read } of drafts) {
    const premises = context.problem.premisesFol
    // The conclusion is asked about too, so that faulty premises show even without a readable step.
    queries.push({ premises, formula: context.problem.conclusionFol })
    for (const { formula } of read) queries.push({ premises, formula })
  }
  for (const { read, tautologies } of drafts) {
    for (const [index, known] of tautologies.entries()) {
      if (known === null) queries.push({ premises: NO_PREMISES, formula: read[index].formula })
    }
  }
  return solver.checkSteps(queries)
}

const statusOf = (status: StepStatus, rule: Rule | null): StepGrade['status'] =>
  status === 'unparsed' && rule !== null ? 'unverifiable' : status

const creditOf = (status: StepGrade['status']) => (status === 'unverifiable' ? 0.3 : STEP_CREDIT[status])

const stepGrade = (
  text: StepText,
  read: ReadStep,
  status: StepGrade['status'],
  tautology: boolean,
): StepGrade => ({
  number: text.number,
  text: text.text,
  span: text.span,
  rule: text.rule,
  formula: read.formula,
  status,
  credit: creditOf(status),
  premise: read.premise,
  tautology,
  repeated: false,
  foreign: read.foreign,
  supported: null,
  counted: true,
})

const markRepeats = (steps: StepGrade[], read: readonly ReadStep[], discount: boolean) => {
  const seen = new Set<string>()
  for (const [index, step] of steps.entries()) {
    const { key } = read[index]
    step.repeated = key !== '' && seen.has(key)
    seen.add(key)
    step.counted = !(discount && (step.repeated || step.tautology || step.premise !== null))
  }
}

/** Fills `supported`: premises, and what follows from valid steps before and premises referred to. With `thorough`, Z3 answers what is left open. */
const markSupport = async (draft: Draft, steps: StepGrade[], solver: LogicSolver, thorough: boolean) => {
  const earlier: Formula[] = []
  const { premisesFol } = draft.context.problem
  for (const [index, step] of steps.entries()) {
    if (step.formula === null || step.status !== 'entailed') {
      step.supported = false
      continue
    }
    for (const { kind, number } of draft.reasoning.steps[index].refs) {
      const cited = kind === 'premise' ? premisesFol[number - 1] : undefined
      if (cited) earlier.push(cited)
    }
    step.supported = step.premise !== null || draft.context.followsFrom(earlier, step.formula)
    if (step.supported === null && thorough) {
      const [status] = await solver.checkSteps([{ premises: [...earlier], formula: step.formula }])
      step.supported = status === 'failed' ? null : status === 'entailed'
    }
    earlier.push(step.formula)
  }
}

const mean = (values: readonly number[]) =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

const stepValidity = (steps: readonly StepGrade[]): number =>
  mean(steps.flatMap(({ counted, credit }) => (counted && credit !== null ? [credit] : [])))

const formatScore = (response: string, steps: number): number =>
  (tagsOf(response).present + (steps >= 2 ? 1 : 0)) / 5

const judgedSteps = ({ reasoning, read }: Draft, steps: readonly StepGrade[]): JudgedStep[] =>
  steps.map((step, index) => ({
    formula: step.formula,
    key: read[index].key,
    premise: step.premise,
    entailed: step.status === 'entailed',
    refs: reasoning.steps[index].refs,
  }))

const prefixLength = (steps: readonly StepGrade[]): number => {
  const first = steps.findIndex(step => step.status !== 'entailed')
  return first < 0 ? steps.length : first
}

const finish = async (
  draft: Draft,
  steps: StepGrade[],
  premisesStatus: StepStatus,
  solver: LogicSolver,
  options: LogicGradeOptions,
): Promise<LogicGrade> => {
  const { context, response, answer, reasoning, read } = draft
  const { problem } = context
  const inconsistent = premisesStatus === 'inconsistent-premises'
  const failed = premisesStatus === 'failed' || steps.some(step => step.status === 'failed')
  const excluded = inconsistent ? 'inconsistent-premises' : failed ? 'solver-failed' : null
  markRepeats(steps, read, options.noveltyDiscount ?? false)
  const judged = judgedSteps(draft, steps)
  if (excluded === null && (options.support ?? true))
    await markSupport(draft, steps, solver, options.truth ?? false)
  const answerCorrect = answer.label === problem.label
  const validProof =
    excluded === null && steps.every(step => step.status === 'entailed') && settles(context, judged)
  const correctAndValid = answerCorrect && validProof
  return {
    problemId: problem.id,
    excluded,
    answer: answer.label,
    answerSpan: answer.span,
    answerCorrect,
    steps,
    criteria: {
      C1: answerCorrect ? 1 : 0,
      C2: excluded === null ? stepValidity(steps) : null,
      C3: formatScore(response, steps.length),
      C4: premiseUseProxy(context.premiseTerms, reasoning.text),
      C5: completenessProxy(steps.length, reasoning.text),
    },
    truth:
      options.truth && excluded === null
        ? { C4: await premiseUse(context, judged, solver), C5: await completeness(context, judged, solver) }
        : null,
    validProof,
    correctAndValid,
    correctAndProved: correctAndValid && steps.every(step => step.supported === true),
    validPrefix: prefixLength(steps),
    requiredSteps: problem.proof?.length ?? 0,
    flags: exploitFlags(steps, reasoning, answer, response),
  }
}

/**
 * Grades responses to any mix of problems. All steps go to the solver in one call, where equal questions are asked once;
 * give it whole batches, and keep problem objects between calls: what is worked out for one is remembered with it.
 */
export const gradeLogicBatch = async (
  items: readonly LogicItem[],
  solver: LogicSolver,
  options: LogicGradeOptions = {},
): Promise<LogicGrade[]> => {
  const drafts = items.map(draftOf)
  const statuses = await ask(drafts, solver)
  let at = 0
  const graded = drafts.map(draft => {
    const premisesStatus = statuses[at++]
    const steps = draft.reasoning.steps.map((text, index) => {
      const status = statusOf(statuses[at++], text.rule)
      return stepGrade(text, draft.read[index], status, draft.tautologies[index] === true)
    })
    return { steps, premisesStatus }
  })
  for (const [index, { tautologies }] of drafts.entries()) {
    for (const [step, known] of tautologies.entries()) {
      if (known === null) graded[index].steps[step].tautology = statuses[at++] === 'entailed'
    }
  }
  const grades: LogicGrade[] = []
  for (const [index, draft] of drafts.entries()) {
    const { steps, premisesStatus } = graded[index]
    grades.push(await finish(draft, steps, premisesStatus, solver, options))
  }
  return grades
}

/** Grades several responses to one problem. */
export const gradeLogic = (
  problem: LogicProblem,
  responses: readonly string[],
  solver: LogicSolver,
  options: LogicGradeOptions = {},
): Promise<LogicGrade[]> =>
  gradeLogicBatch(
    responses.map(response => ({ problem, response })),
    solver,
    options,
  )

/**
 * The grade as verdicts on `LOGIC_RUBRIC`; `truth` takes the real C4 and C5 where they were worked out. A criterion without
 * a value has no verdict (null): the item is at fault, not the response.
 */
export const logicVerdicts = (grade: LogicGrade, truth = false): Verdict[] =>
  LOGIC_RUBRIC.criteria.map(({ id }) => {
    const criterion = id as LogicCriterion
    const real = truth && grade.truth && (criterion === 'C4' || criterion === 'C5')
    const credit = real ? grade.truth![criterion as 'C4' | 'C5'] : grade.criteria[criterion]
    const source = criterion === 'C2' || real ? 'formal' : 'rule'
    if (credit === null)
      return { criterionId: id, met: null, source, explanation: grade.excluded ?? 'undefined here' }
    return { criterionId: id, met: credit === 1, credit, source }
  })
