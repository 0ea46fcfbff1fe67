/** @file Evaluation of a policy on sets of logic problems: answers, proofs, criteria, balance; with intervals. */

import type { LogicGrade, StepGrade } from '../../grade/logic/grade.ts'
import type { LogicCriterion } from '../../grade/logic/rubric.ts'
import type { Policy, SamplingOptions } from '../../policy/policy.ts'
import type { EvalRow, EvalSample, RolloutRow, RolloutStep } from '../../runs/rows.ts'
import { shallowBaselines } from '../../tasks/logic/baselines.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import type { LogicTask, LogicVerdicts } from '../../tasks/logic/task.ts'
import { DataError } from '../../util/errors.ts'
import { drawAnswers } from '../common/answers.ts'
import { setRow } from '../common/evaluated-set.ts'
import { type AnsweredProblem, rowMetrics } from './scores.ts'

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

/** An answer with what its graders said. */
interface Said extends LogicVerdicts {
  text: string
}

export interface LogicEvaluationParts {
  policy: Pick<Policy, 'sample'>
  /** Whose graders judge C4 and C5 by proof alone. */
  task: LogicTask
}

/** Graded answers by problem, without those that nothing can be said of. */
const byProblem = (said: readonly Said[], count: number): Said[][] =>
  Array.from({ length: said.length / count }, (_, p) =>
    said.slice(p * count, (p + 1) * count).filter(({ excluded }) => excluded === null),
  )

/** @param problems all that there were */
export const nothingLeft = (set: string, problems: number): DataError =>
  new DataError(
    `${set}: nothing is left to evaluate: every one of ${problems} problems was left out, because its premises contradict each other, the solver failed on it, or the responses are too long to be read`,
    { hint: 'check the premises of the file, for example with `gradus verify logic`' },
  )

/** Samples of every problem, graded. */
const respond = async (
  { policy, task }: LogicEvaluationParts,
  problems: readonly LogicTaskExample[],
  samples: number,
  sampling: SamplingOptions,
): Promise<Said[][]> => {
  const draws = { samples, sampling: { stopTokens: task.stopTokens, ...sampling } }
  const drawn = await drawAnswers(policy, problems, draws, own => task.prompt(own))
  const items = drawn.map(({ prompt, tokens }) => ({ problem: problems[prompt], tokens, criteria: [] }))
  const said = (await task.grade(items)).map(own => ({ ...own, text: own.response.text }))
  return byProblem(said, samples)
}

/**
 * One row of evals.jsonl for one set. Problems and responses that nothing can be said of are left out.
 * @throws DataError when nothing is left.
 */
export const evaluateSet = async (
  parts: LogicEvaluationParts,
  set: string,
  step: number,
  problems: readonly LogicTaskExample[],
  { samples, greedy, sampling }: EvaluationSettings,
): Promise<EvalRow> => {
  const decode = () => respond(parts, problems, 1, { ...sampling, temperature: 0 })
  const greedy_P_S = greedy && samples > 0 ? await decode() : null
  const said_P_S = samples > 0 ? await respond(parts, problems, samples, sampling) : await decode()
  const kept = problems.flatMap((problem, p) =>
    said_P_S[p].length > 0 ? [{ problem, said: said_P_S[p], greedy: greedy_P_S?.[p] }] : [],
  )
  if (kept.length === 0) throw nothingLeft(set, problems.length)
  const { items, ...metrics } = rowMetrics(kept)
  const { question } = parts.task
  const firsts = items.map((item, i) => ({ ...item, first: () => readable(kept[i], question) }))
  const head = { step, set, samples: Math.max(1, samples) }
  return setRow({ ...head, temperature: samples > 0 ? (sampling.temperature ?? 1) : 0 }, firsts, {
    ...metrics,
    baselines: baselineRows(kept.map(({ problem }) => problem)),
  })
}

/** The first answer that something can be said of. */
const readable = (
  { problem, said: [{ text: response, grade }] }: AnsweredProblem<Said>,
  show: (problem: LogicTaskExample) => string,
): EvalSample => ({ prompt: show(problem), response, reward: null, ...gradedFields(problem, grade) })

/** Right answers by shallow cues. */
export const baselineRows = (problems: readonly LogicTaskExample[]): EvalRow['baselines'] =>
  Object.fromEntries(
    shallowBaselines(problems).map(({ name, accuracy }) => [
      name,
      { scores: { accuracy: { value: accuracy } }, n: problems.length },
    ]),
  )

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
