/** @file The five criteria of the logic rubric, C1 to C5, for whole batches of responses. */

import { mean } from '../../util/descriptive.ts'
import { eventLoopYield, type YieldToEventLoop } from '../../util/yield-to-event-loop.ts'
import { type ExtractedAnswer, extractLabel } from './answer.ts'
import { contextOf, type ReadStep } from './context.ts'
import { type Formula, formulaKey } from './formula.ts'
import type { Draft, LogicGrade, LogicGradeOptions, LogicItem, StepGrade } from './grade.ts'
import { groundStatus } from './ground.ts'
import type { LogicProblem } from './problem.ts'
import { completenessProxy, premiseUseProxy } from './proxies.ts'
import { type LogicSolver, STEP_CREDIT, type StepQuery, type StepStatus } from './solver.ts'
import { SolverError } from './solver-process.ts'
import { type ExtractedReasoning, extractReasoning, type InferenceRule, type StepText } from './steps.ts'
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
const proofOf = async (
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

/** Beyond these a response is no proof that anybody reads: it has no grade. */
const MAX_REASONING_CHARS = 200_000
const MAX_STEPS = 1_000

const UNREAD: ExtractedReasoning = { text: '', span: [0, 0], tagged: false, steps: [], unnumberedLines: 0 }

const isTooLong = ({ text, steps }: ExtractedReasoning): boolean =>
  text.length > MAX_REASONING_CHARS || steps.length > MAX_STEPS

const draftOf = async (
  { problem, response }: LogicItem,
  yieldToEventLoop: YieldToEventLoop,
): Promise<Draft> => {
  const context = contextOf(problem)
  const found = extractReasoning(response)
  const tooLong = isTooLong(found)
  const reasoning = tooLong ? UNREAD : found
  const read: ReadStep[] = []
  const tautologies: (boolean | null)[] = []
  for (const { text } of reasoning.steps) {
    await yieldToEventLoop()
    const step = context.read(text)
    read.push(step)
    tautologies.push(step.formula === null || step.premise !== null ? false : isTautology(step.formula))
  }
  return { context, response, answer: extractLabel(response), reasoning, read, tautologies, tooLong }
}

const NO_PREMISES: readonly Formula[] = []
const FALSEHOOD: Formula = { kind: 'false' }

/** Everything that has to be asked of the solver, in one call: statuses first, then the tautologies left open. */
const ask = async (drafts: readonly Draft[], solver: LogicSolver) => {
  const queries: StepQuery[] = []
  for (const { context, read } of drafts) {
    const premises = context.problem.premisesFol
    // The conclusion is asked about too, so that faulty premises show even without a readable step.
    queries.push({ premises, formula: context.problem.conclusionFol ?? FALSEHOOD })
    for (const { formula } of read) queries.push({ premises, formula })
  }
  for (const { read, tautologies } of drafts) {
    for (const [index, known] of tautologies.entries()) {
      if (known === null) queries.push({ premises: NO_PREMISES, formula: read[index].formula })
    }
  }
  return solver.checkSteps(queries)
}

const statusOf = (status: StepStatus, rule: InferenceRule | null): StepGrade['status'] =>
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

const stepValidity = (steps: readonly StepGrade[]): number => {
  const credits = steps.flatMap(({ counted, credit }) => (counted && credit !== null ? [credit] : []))
  return credits.length === 0 ? 0 : mean(credits)
}

const formatScore = (response: string, steps: number): number =>
  (tagsOf(response).present + (steps >= 2 ? 1 : 0)) / 5

const prefixLength = (steps: readonly StepGrade[]): number => {
  const first = steps.findIndex(step => step.status !== 'entailed')
  return first < 0 ? steps.length : first
}

interface Asked {
  steps: StepGrade[]
  premises: StepStatus
  /** The solver failed on something that was asked. */
  failed: boolean
}

const exclusionOf = ({ premises, failed }: Asked, { tooLong }: Draft): LogicGrade['excluded'] => {
  if (tooLong) return 'too-long'
  if (premises === 'inconsistent-premises') return premises
  return failed ? 'solver-failed' : null
}

/** Of reasoning that was not read nothing is known, its form included. */
const UNKNOWN = { C3: null, C4: null, C5: null }

const byReasoning = ({ context, response, reasoning }: Draft, { proxies }: LogicGradeOptions) => ({
  C3: formatScore(response, reasoning.steps.length),
  C4: premiseUseProxy(context.premiseTerms, reasoning.text, proxies),
  C5: completenessProxy(reasoning.steps.length, reasoning.text, proxies),
})

const finish = async (
  draft: Draft,
  asked: Asked,
  solver: LogicSolver,
  options: LogicGradeOptions,
): Promise<LogicGrade> => {
  const { context, response, answer, reasoning, read } = draft
  const { problem } = context
  const { steps } = asked
  markRepeats(steps, read, options.noveltyDiscount ?? false)
  const known = exclusionOf(asked, draft)
  const found = known === null ? await proofOf(draft, steps, solver, options) : null
  const excluded = known ?? (found === null ? 'solver-failed' : null)
  for (const [index, step] of steps.entries()) step.supported = found?.supported?.[index] ?? null
  const answerCorrect = answer.label === problem.label
  const validProof = problem.conclusionFol === null ? null : (found?.validProof ?? false)
  const correctAndValid = validProof === null ? null : answerCorrect && validProof
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
      ...(draft.tooLong ? UNKNOWN : byReasoning(draft, options)),
    },
    truth: found?.truth ?? null,
    validProof,
    correctAndValid,
    correctAndProved: correctAndValid && steps.every(step => step.supported === true),
    validPrefix: prefixLength(steps),
    requiredSteps: problem.proof?.length ?? 0,
    flags: draft.tooLong ? { tooLong: 1 } : exploitFlags(steps, reasoning, answer, response),
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
  const yieldToEventLoop = eventLoopYield()
  const drafts: Draft[] = []
  for (const item of items) drafts.push(await draftOf(item, yieldToEventLoop))
  const statuses = await ask(drafts, solver)
  let at = 0
  const asked = drafts.map((draft): Asked => {
    const premises = statuses[at++]
    const steps = draft.reasoning.steps.map((text, index) => {
      const status = statusOf(statuses[at++], text.rule)
      return stepGrade(text, draft.read[index], status, draft.tautologies[index] === true)
    })
    const failed = premises === 'failed' || steps.some(({ status }) => status === 'failed')
    return { steps, premises, failed }
  })
  for (const [index, { tautologies }] of drafts.entries()) {
    for (const [step, known] of tautologies.entries()) {
      if (known !== null) continue
      const status = statuses[at++]
      asked[index].steps[step].tautology = status === 'entailed'
      asked[index].failed ||= status === 'failed'
    }
  }
  const grades: LogicGrade[] = []
  for (const [index, draft] of drafts.entries()) {
    await yieldToEventLoop()
    grades.push(await finish(draft, asked[index], solver, options))
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

const tautologies = new Map<string, boolean | null>()

/** True without any premises; null when only Z3 can tell. Remembered per formula. */
const isTautology = (formula: Formula): boolean | null => {
  const key = formulaKey(formula)
  let found = tautologies.get(key)
  if (found === undefined) {
    const status = formula.kind === 'atom' ? 'consistent' : groundStatus([], formula)
    found = status === null ? null : status === 'entailed'
    if (tautologies.size < 100_000) tautologies.set(key, found)
  }
  return found
}

const TAGS = ['<reasoning>', '</reasoning>', '<answer>', '</answer>'] as const

/** Which of the four tags occur, and whether those that do stand in their order. */
export const tagsOf = (response: string): { present: number; inOrder: boolean } => {
  const lower = response.toLowerCase()
  const places = TAGS.map(tag => lower.indexOf(tag)).filter(place => place >= 0)
  const inOrder = places.every((place, index) => index === 0 || place > places[index - 1])
  return { present: places.length, inOrder }
}

const share = (steps: readonly StepGrade[], test: (step: StepGrade) => boolean) =>
  steps.length === 0 ? 0 : steps.filter(test).length / steps.length

/**
 * Flags of a response: shares of its steps in [0, 1], or 0/1. An honest proof restates the premises that it uses, so
 * `restatedPremise` is high there too: what tells them apart is how far it goes beyond.
 */
const exploitFlags = (
  steps: readonly StepGrade[],
  reasoning: ExtractedReasoning,
  answer: ExtractedAnswer,
  response: string,
): Record<string, number> => ({
  restatedPremise: share(steps, step => step.premise !== null),
  tautology: share(steps, step => step.tautology),
  repeatedStep: share(steps, step => step.repeated),
  /** Steps that neither follow nor contradict: each is worth .5. */
  consistentStep: share(steps, step => step.status === 'consistent'),
  /** Unreadable steps that earn .3 by naming a rule. */
  ruleNameOnly: share(steps, step => step.status === 'unverifiable'),
  /** Steps about names that the problem never uses. */
  foreignName: share(steps, step => step.foreign),
  unparsedStep: share(steps, step => step.status === 'unparsed'),
  timeout: share(steps, step => step.status === 'unknown'),
  solverFailed: share(steps, step => step.status === 'failed'),
  /** Entailed steps that do not follow from what the response has said before, and are no premises. */
  unsupportedStep: share(steps, step => step.status === 'entailed' && step.supported === false),
  tagsOutOfOrder: tagsOf(response).inOrder ? 0 : 1,
  severalAnswers: answer.count > 1 ? 1 : 0,
  noAnswer: answer.label === null ? 1 : 0,
  noReasoningTag: reasoning.tagged ? 0 : 1,
  unnumberedLines: reasoning.unnumberedLines,
})
