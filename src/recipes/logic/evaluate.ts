/** @file Evaluation of a policy on sets of logic problems: answers, proofs, criteria, balance; with intervals. */

import type { Grader } from '../../grade/grader.ts'
import type { LogicCriterion } from '../../grade/logic/rubric.ts'
import type { LogicSolver } from '../../grade/logic/solver.ts'
import type { Policy, SamplingOptions } from '../../policy/policy.ts'
import type { EvalRow, EvalSample } from '../../runs/rows.ts'
import { shallowBaselines } from '../../tasks/logic/baselines.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import type { LogicFormat } from '../../tasks/logic/prompts.ts'
import { type LogicTask, type LogicVerdicts, logicGrader } from '../../tasks/logic/task.ts'
import { DataError } from '../../util/errors.ts'
import { drawAnswers } from '../common/answers.ts'
import { setRow } from '../common/evaluated-set.ts'
import { gradedFields } from './graded-fields.ts'
import { type AnsweredProblem, rowFigures } from './scores.ts'
import { judgeSoftCriteria } from './soft-judge.ts'

/** What each criterion is called in a report. */
export const CRITERION_NAMES: Readonly<Record<LogicCriterion, string>> = {
  C1: 'answer',
  C2: 'step validity',
  C3: 'format',
  C4: 'premise use',
  C5: 'completeness',
}

interface EvaluationSettings {
  /** Samples a problem at `sampling.temperature`; 0 for greedy alone. */
  samples: number
  greedy: boolean
  sampling: SamplingOptions
}

/** Answers to problems, so many to each, those of one problem beside each other. */
export type Answerer = (
  problems: readonly LogicTaskExample[],
  count: number,
  sampling: SamplingOptions,
) => Promise<string[]>

/** Answers of a policy, read from its tokens. */
export const policyAnswers =
  (policy: Pick<Policy, 'sample'>, format: LogicFormat): Answerer =>
  async (problems, count, sampling) =>
    (await drawnFrom(policy, format, problems, count, sampling)).map(({ tokens }) => format.read(tokens).text)

const drawnFrom = (
  policy: Pick<Policy, 'sample'>,
  { prompt, stopTokens }: Pick<LogicTask, 'prompt' | 'stopTokens'>,
  problems: readonly LogicTaskExample[],
  samples: number,
  sampling: SamplingOptions,
) => drawAnswers(policy, problems, { samples, sampling: { stopTokens, ...sampling } }, own => prompt(own))

/** An answer with what its graders said. */
interface Said extends LogicVerdicts {
  text: string
}

/** Graded answers to problems, those of one problem beside each other. */
type Respond = (
  problems: readonly LogicTaskExample[],
  count: number,
  sampling: SamplingOptions,
) => Promise<Said[]>

/** What judges answers, whoever gave them. */
export interface AnswerParts {
  answer: Answerer
  solver: LogicSolver
  /** Asked about C4 and C5 of every response, beside the proofs' own word. */
  judge?: Grader
}

export interface LogicEvaluationParts extends Pick<AnswerParts, 'judge'> {
  policy: Pick<Policy, 'sample'>
  /** Whose graders judge C4 and C5 by proof alone. */
  task: LogicTask
}

type Evaluated = [
  set: string,
  step: number,
  problems: readonly LogicTaskExample[],
  settings: EvaluationSettings,
]

/**
 * One row of evals.jsonl for one set. Problems and responses that nothing can be said of are left out.
 * @throws DataError when nothing is left.
 */
export const evaluateSet = (
  { policy, task, judge }: LogicEvaluationParts,
  ...what: Evaluated
): Promise<EvalRow> => {
  const respond: Respond = async (problems, count, sampling) => {
    const samples = await drawnFrom(policy, task, problems, count, sampling)
    const items = samples.map(({ prompt, tokens }) => ({ problem: problems[prompt], tokens, criteria: [] }))
    return (await task.grade(items)).map(said => ({ ...said, text: said.response.text }))
  }
  return evaluateBy(respond, { judge, show: task.question }, ...what)
}

/** A test set whose problems are made when its turn comes. */
export interface TestSet {
  title: string
  problems(): readonly LogicTaskExample[]
}

/** A row for each set, in their order. */
export const evaluateSets = async (
  parts: LogicEvaluationParts,
  step: number,
  sets: readonly TestSet[],
  settings: EvaluationSettings,
): Promise<EvalRow[]> => {
  const rows: EvalRow[] = []
  for (const { title, problems } of sets)
    rows.push(await evaluateSet(parts, title, step, problems(), settings))
  return rows
}

/** The same for answers of whoever gives them, of which none is kept. @throws DataError when nothing is left */
export const evaluateAnswers = (
  { answer, solver, judge }: AnswerParts,
  ...what: Evaluated
): Promise<EvalRow> => {
  const grade = logicGrader(solver, { truth: 'only' })
  const respond: Respond = async (problems, count, sampling) => {
    const answers = await answer(problems, count, sampling)
    const items = answers.map((response, i) => ({ problem: problems[Math.floor(i / count)], response }))
    return (await grade(items)).map((said, i) => ({ ...said, text: answers[i] }))
  }
  return evaluateBy(respond, { judge }, ...what)
}

/** Graded answers by problem, without those that nothing can be said of. */
const byProblem = (said: readonly Said[], count: number): Said[][] =>
  Array.from({ length: said.length / count }, (_, p) =>
    said.slice(p * count, (p + 1) * count).filter(({ excluded }) => excluded === null),
  )

const evaluateBy = async (
  respond: Respond,
  { judge, show }: { judge?: Grader; show?: (problem: LogicTaskExample) => string },
  ...[set, step, problems, settings]: Evaluated
): Promise<EvalRow> => {
  const { samples, sampling } = settings
  const decode = async () => byProblem(await respond(problems, 1, { ...sampling, temperature: 0 }), 1)
  const greedy_P_S = settings.greedy && samples > 0 ? await decode() : null
  const said_P_S =
    samples > 0 ? byProblem(await respond(problems, samples, sampling), samples) : await decode()
  const kept = problems.flatMap((problem, p) =>
    said_P_S[p].length > 0 ? [{ problem, said: said_P_S[p], greedy: greedy_P_S?.[p] }] : [],
  )
  if (kept.length === 0)
    throw new DataError(
      `${set}: nothing is left to evaluate: every one of ${problems.length} problems was left out, because its premises contradict each other, the solver failed on it, or the responses are too long to be read`,
      { hint: 'check the premises of the file, for example with `gradus verify logic`' },
    )
  const answers = kept.flatMap(({ problem, said }) => said.map(({ text }) => ({ problem, response: text })))
  const { items, ...figures } = rowFigures(kept)
  const firsts = items.map((item, i) => ({ ...item, ...(show && { first: () => readable(kept[i], show) }) }))
  const head = { step, set, samples: Math.max(1, samples) }
  return setRow({ ...head, temperature: samples > 0 ? (sampling.temperature ?? 1) : 0 }, firsts, {
    ...figures,
    ...(judge && { judged: await judgeSoftCriteria(judge, answers) }),
    baselines: baselineRows(kept.map(({ problem }) => problem)),
  })
}

/** The first answer that something can be said of. */
const readable = (
  { problem, said: [{ text: response, grade }] }: AnsweredProblem<Said>,
  show: (problem: LogicTaskExample) => string,
): EvalSample => ({ prompt: show(problem), response, reward: null, ...gradedFields(problem, grade) })

const baselineRows = (problems: readonly LogicTaskExample[]): EvalRow['baselines'] =>
  Object.fromEntries(
    shallowBaselines(problems).map(({ name, accuracy }) => [
      name,
      { scores: { accuracy: { value: accuracy } }, n: problems.length },
    ]),
  )
