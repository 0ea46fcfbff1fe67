/** @file Evaluation of a policy on sets of logic problems: answers, proofs, criteria, balance; with intervals. */

import type { Grader } from '../../grade/grader.ts'
import { gradeLogicBatch } from '../../grade/logic/criteria.ts'
import type { LogicGrade } from '../../grade/logic/grade.ts'
import type { LogicCriterion } from '../../grade/logic/rubric.ts'
import type { LogicSolver } from '../../grade/logic/solver.ts'
import type { Policy, SamplingOptions } from '../../policy/policy.ts'
import { withSamples } from '../../runs/eval-samples.ts'
import type { EvalRow, EvalSample } from '../../runs/rows.ts'
import { greedyName } from '../../runs/scores.ts'
import { shallowBaselines } from '../../tasks/logic/baselines.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { DataError } from '../../util/errors.ts'
import type { LogicFormat } from './format.ts'
import { gradedFields } from './graded-fields.ts'
import {
  criteriaIntervals,
  criteriaOf,
  itemOf,
  LOGIC_SCORES,
  labelScores,
  PRIMARY,
  SCORES,
  scoresOver,
  sourceScores,
} from './scores.ts'
import { judgeSoftCriteria, type SoftItem } from './soft-judge.ts'

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

/** What judges answers, whoever gave them. */
export interface AnswerParts {
  answer: Answerer
  solver: LogicSolver
  /** Asked about C4 and C5 of every response, beside the proofs' own word. */
  judge?: Grader
  /** A problem as it was asked, for reading; without it no responses are kept. */
  show?(problem: LogicTaskExample): string
}

export interface EvaluationParts extends Omit<AnswerParts, 'answer' | 'show'> {
  policy: Pick<Policy, 'sample'>
  format: LogicFormat
}

/** Answers of a policy, read from its tokens. */
export const policyAnswers =
  (policy: Pick<Policy, 'sample'>, format: LogicFormat): Answerer =>
  async (problems, count, sampling) => {
    const samples = await policy.sample({
      stopTokens: format.stopTokens,
      ...sampling,
      prompts: problems.map(problem => format.prompt(problem)),
      samplesPerPrompt: count,
    })
    return samples.map(({ tokens }) => format.read(tokens).text)
  }

/** Responses to all problems, without those that nothing can be said of. */
interface Responses {
  /** By problem and sample. */
  grades_P_S: LogicGrade[][]
  /** In the order of the problems. */
  items: SoftItem[]
}

/** Has `count` responses to every problem and grades them with the evaluation truth of C4 and C5. */
export const respond = async (
  { answer, solver }: AnswerParts,
  problems: readonly LogicTaskExample[],
  count: number,
  sampling: SamplingOptions,
): Promise<Responses> => {
  const answers = await answer(problems, count, sampling)
  const items = answers.map((response, i) => ({ problem: problems[Math.floor(i / count)], response }))
  const grades = await gradeLogicBatch(items, solver, { truth: true })
  const grades_P_S = problems.map((_, p) =>
    grades.slice(p * count, (p + 1) * count).filter(({ excluded }) => !excluded),
  )
  return { grades_P_S, items: items.filter((_, i) => !grades[i].excluded) }
}

/**
 * One row of evals.jsonl for one set. Problems and responses that nothing can be said of are left out.
 * @throws DataError when nothing is left.
 */
export const evaluateSet = (
  { policy, format, ...parts }: EvaluationParts,
  ...what: Evaluated
): Promise<EvalRow> =>
  evaluateAnswers(
    { ...parts, answer: policyAnswers(policy, format), show: problem => format.show(problem) },
    ...what,
  )

type Evaluated = [
  set: string,
  step: number,
  problems: readonly LogicTaskExample[],
  settings: EvaluationSettings,
]

/** The same for answers of whoever gives them. @throws DataError when nothing is left */
export const evaluateAnswers = async (
  parts: AnswerParts,
  ...[set, step, problems, settings]: Evaluated
): Promise<EvalRow> => {
  const { samples, sampling } = settings
  const decode = () => respond(parts, problems, 1, { ...sampling, temperature: 0 })
  const greedy = settings.greedy && samples > 0 ? await decode() : null
  const main = samples > 0 ? await respond(parts, problems, samples, sampling) : await decode()
  const sampled = main.grades_P_S
  const kept = problems.flatMap((problem, p) => (sampled[p].length > 0 ? [{ problem, p }] : []))
  if (kept.length === 0)
    throw new DataError(
      `${set}: nothing is left to evaluate: every one of ${problems.length} problems was left out, because its premises contradict each other, the solver failed on it, or the responses are too long to be read`,
      { hint: 'check the premises of the file, for example with `gradus verify logic`' },
    )
  const items = kept.map(({ problem, p }) => itemOf(problem, sampled[p], greedy?.grades_P_S[p]))
  const graded = kept.map(({ problem, p }) => ({ problem, grades: sampled[p] }))
  const names = [...LOGIC_SCORES, ...LOGIC_SCORES.map(greedyName)]
  const scores = scoresOver(items, names)
  const row: EvalRow = {
    step,
    set,
    n: items.length,
    samples: Math.max(1, samples),
    temperature: samples > 0 ? (sampling.temperature ?? 1) : 0,
    scores,
    // Nothing is proved where no conclusion has a formula.
    primary: PRIMARY in scores ? PRIMARY : 'accuracy',
    scoreNames: Object.fromEntries(LOGIC_SCORES.map(name => [name, SCORES[name].words])),
    criteria: criteriaOf(sampled.flat()),
    criteriaIntervals: criteriaIntervals(items),
    ...(parts.judge && { judged: await judgeSoftCriteria(parts.judge, main.items) }),
    ...labelScores(graded),
    ...sourceScores(graded, items, names),
    baselines: baselineRows(kept.map(({ problem }) => problem)),
    items,
  }
  const { show } = parts
  return show ? withSamples(row, firstResponses(main, show)) : row
}

/** The first response to a problem that something can be said of, by the problem's id. */
const firstResponses = (
  { items, grades_P_S }: Responses,
  show: NonNullable<AnswerParts['show']>,
): ((id: string) => EvalSample | null) => {
  const grades = grades_P_S.flat()
  const places = new Map<string, number>()
  for (const [i, { problem }] of items.entries()) if (!places.has(problem.id)) places.set(problem.id, i)
  return id => {
    const place = places.get(id)
    if (place === undefined) return null
    const { problem, response } = items[place]
    const prompt = show(problem)
    return { prompt, response, reward: null, ...gradedFields(problem, grades[place]) }
  }
}

const baselineRows = (problems: readonly LogicTaskExample[]): EvalRow['baselines'] =>
  Object.fromEntries(
    shallowBaselines(problems).map(({ name, accuracy }) => [
      name,
      { scores: { accuracy: { value: accuracy } }, n: problems.length },
    ]),
  )
