/** @file Evaluation of a policy on sets of logic problems: answers, proofs, criteria, balance; with intervals. */

import { labelBalance } from '../../eval/balance.ts'
import type { Grader } from '../../grade/grader.ts'
import { gradeLogicBatch } from '../../grade/logic/criteria.ts'
import type { LogicGrade } from '../../grade/logic/grade.ts'
import { LOGIC_LABELS } from '../../grade/logic/problem.ts'
import { LOGIC_CRITERIA, type LogicCriterion } from '../../grade/logic/rubric.ts'
import type { LogicSolver } from '../../grade/logic/solver.ts'
import type { Policy, SamplingOptions } from '../../policy/policy.ts'
import type { EvalItem, EvalRow, Interval, MetricGroup, Scores } from '../../runs/rows.ts'
import { greedyName } from '../../runs/scores.ts'
import { shallowBaselines } from '../../tasks/logic/baselines.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { DataError } from '../../util/errors.ts'
import { bootstrapInterval, mean } from '../../util/statistics.ts'
import type { LogicFormat } from './format.ts'
import { judgeSoftCriteria, type SoftItem } from './soft-judge.ts'

/** What each criterion is called in a report. */
export const CRITERION_NAMES: Readonly<Record<LogicCriterion, string>> = {
  C1: 'answer',
  C2: 'step validity',
  C3: 'format',
  C4: 'premise use',
  C5: 'completeness',
}

export interface EvaluationSettings {
  /** Samples a problem at `sampling.temperature`; 0 for greedy alone. */
  samples: number
  greedy: boolean
  sampling: SamplingOptions
}

export interface EvaluationParts {
  policy: Policy
  solver: LogicSolver
  format: LogicFormat
  /** Asked about C4 and C5 of every response, beside the proofs' own word. */
  judge?: Grader
}

/** Responses to all problems, without those that nothing can be said of. */
export interface Responses {
  /** By problem and sample. */
  grades_P_S: LogicGrade[][]
  /** In the order of the problems. */
  items: SoftItem[]
}

/** Samples `count` responses to every problem and grades them with the evaluation truth of C4 and C5. */
export const respond = async (
  { policy, solver, format }: EvaluationParts,
  problems: readonly LogicTaskExample[],
  count: number,
  sampling: SamplingOptions,
): Promise<Responses> => {
  const samples = await policy.sample({
    stopTokens: format.stopTokens,
    ...sampling,
    prompts: problems.map(problem => format.prompt(problem)),
    samplesPerPrompt: count,
  })
  const items = samples.map(({ prompt, tokens }) => ({
    problem: problems[prompt],
    response: format.read(tokens).text,
  }))
  const grades = await gradeLogicBatch(items, solver, { truth: true })
  const grades_P_S = problems.map((_, p) =>
    grades.slice(p * count, (p + 1) * count).filter(({ excluded }) => !excluded),
  )
  return { grades_P_S, items: items.filter((_, i) => !grades[i].excluded) }
}

/** What evaluations score; the first is the primary score: a right answer is worth little without its proof. */
const SCORES = {
  correctAndProved: { words: 'correct and proved', holds: grade => grade.correctAndProved },
  accuracy: { words: 'answers right', holds: grade => grade.answerCorrect },
  correctAndValid: { words: 'correct and valid', holds: grade => grade.correctAndValid },
  validProofs: { words: 'valid proofs', holds: grade => grade.validProof },
} satisfies Record<string, { words: string; holds: (grade: LogicGrade) => boolean }>

type LogicScore = keyof typeof SCORES

export const LOGIC_SCORES = Object.keys(SCORES) as LogicScore[]

const PRIMARY: LogicScore = 'correctAndProved'

/** Share of responses for which each score holds. */
const sharesOf = (grades: readonly LogicGrade[]): Record<LogicScore, number> =>
  Object.fromEntries(
    LOGIC_SCORES.map(name => [name, mean(grades.map(grade => Number(SCORES[name].holds(grade))))]),
  ) as Record<LogicScore, number>

/** Bootstrap over problems: samples of one problem are not independent. */
const interval = (perProblem: readonly number[]): Interval => {
  const { low, high } = bootstrapInterval(perProblem, { resamples: 2000, seed: 'evaluation' })
  return [low, high]
}

/** Mean of each criterion, C4 and C5 as they really are; null where no response has a value. */
const criteriaOf = (grades: readonly LogicGrade[]): Record<LogicCriterion, number | null> =>
  Object.fromEntries(
    LOGIC_CRITERIA.map(id => {
      const values = grades.flatMap(({ criteria, truth }) => {
        const value = truth && (id === 'C4' || id === 'C5') ? truth[id] : criteria[id]
        return value === null ? [] : [value]
      })
      return [id, values.length > 0 ? mean(values) : null]
    }),
  ) as Record<LogicCriterion, number | null>

/** 95% interval of each criterion over the problems that have a value. */
const criteriaIntervals = (items: readonly EvalItem[]): Record<string, Interval> =>
  Object.fromEntries(
    LOGIC_CRITERIA.flatMap(id => {
      const values = items.flatMap(({ criteria }) => criteria?.[id] ?? [])
      return values.length > 0 ? [[id, interval(values)]] : []
    }),
  )

/**
 * One row of evals.jsonl for one set. Problems and responses that nothing can be said of are left out.
 * @throws DataError when nothing is left.
 */
export const evaluateSet = async (
  parts: EvaluationParts,
  set: string,
  step: number,
  problems: readonly LogicTaskExample[],
  settings: EvaluationSettings,
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
  const all = sampled.flat()
  return {
    step,
    set,
    n: items.length,
    samples: Math.max(1, samples),
    temperature: samples > 0 ? (sampling.temperature ?? 1) : 0,
    scores: scoresOver(items, [...LOGIC_SCORES, ...LOGIC_SCORES.map(greedyName)]),
    primary: PRIMARY,
    scoreNames: Object.fromEntries(LOGIC_SCORES.map(name => [name, SCORES[name].words])),
    criteria: criteriaOf(all),
    criteriaIntervals: criteriaIntervals(items),
    ...(parts.judge && { judged: await judgeSoftCriteria(parts.judge, main.items) }),
    ...labelScores(kept.map(({ problem, p }) => ({ problem, grades: sampled[p] }))),
    baselines: baselineRows(kept.map(({ problem }) => problem)),
    items,
  }
}

const itemOf = (problem: LogicTaskExample, grades: LogicGrade[], greedy: LogicGrade[] = []): EvalItem => ({
  id: problem.id,
  scores: { ...sharesOf(grades), ...(greedy.length > 0 && greedyShares(greedy)) },
  criteria: criteriaOf(grades),
})

const greedyShares = (grades: readonly LogicGrade[]): MetricGroup =>
  Object.fromEntries(Object.entries(sharesOf(grades)).map(([name, value]) => [greedyName(name), value]))

/** Means over the problems that have the score, which a problem lacks whose greedy response could not be graded. */
const scoresOver = (items: readonly EvalItem[], names: readonly string[]): Scores =>
  Object.fromEntries(
    names.flatMap(name => {
      const values = items.flatMap(({ scores }) => scores[name] ?? [])
      return values.length > 0 ? [[name, { value: mean(values), interval: interval(values) }]] : []
    }),
  )

/** Scores by label with its number of problems, and the balance over labels. */
const labelScores = (
  rows: readonly { problem: LogicTaskExample; grades: LogicGrade[] }[],
): Pick<EvalRow, 'byLabel' | 'balance'> => {
  const answers = rows.flatMap(({ problem, grades }) =>
    grades.map(({ answer }) => ({ gold: problem.label, predicted: answer })),
  )
  const { byLabel, macroRecall, minClassRecall, predicted, trueBias } = labelBalance(answers, LOGIC_LABELS)
  return {
    byLabel: Object.fromEntries(
      LOGIC_LABELS.flatMap(label => {
        if (byLabel[label].accuracy === null) return []
        const own = rows.filter(({ problem }) => problem.label === label)
        return [[label, { n: own.length, scores: sharesOf(own.flatMap(row => row.grades)) }]]
      }),
    ),
    balance: { macroRecall, minClassRecall, predicted, trueBias },
  }
}

const baselineRows = (problems: readonly LogicTaskExample[]): EvalRow['baselines'] =>
  Object.fromEntries(
    shallowBaselines(problems).map(({ name, accuracy }) => [
      name,
      { scores: { accuracy: { value: accuracy } }, n: problems.length },
    ]),
  )
