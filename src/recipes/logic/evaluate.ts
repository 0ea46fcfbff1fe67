/** @file Evaluation of a policy on sets of logic problems: answers, proofs, criteria, balance; with intervals. */

import { labelBalance } from '../../eval/balance.ts'
import type { Grader } from '../../grade/grader.ts'
import { gradeLogicBatch, type LogicGrade } from '../../grade/logic/criteria.ts'
import { LOGIC_LABELS } from '../../grade/logic/problem.ts'
import { LOGIC_CRITERIA, type LogicCriterion } from '../../grade/logic/rubric.ts'
import type { LogicSolver } from '../../grade/logic/solver.ts'
import type { Policy, SamplingOptions } from '../../policy/policy.ts'
import type { EvalItem, EvalRow, Interval } from '../../runs/rows.ts'
import { shallowBaselines } from '../../tasks/logic/baselines.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { DataError } from '../../util/errors.ts'
import { bootstrapInterval, mean } from '../../util/statistics.ts'
import type { LogicFormat } from './format.ts'
import { judgeSoftCriteria, type SoftItem } from './soft-judge.ts'

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

const share = (grades: readonly LogicGrade[], test: (grade: LogicGrade) => boolean) =>
  mean(grades.map(grade => Number(test(grade))))

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
  const greedy =
    settings.greedy || samples === 0
      ? await respond(parts, problems, 1, { ...sampling, temperature: 0 })
      : null
  const main = samples > 0 ? await respond(parts, problems, samples, sampling) : greedy!
  const sampled = main.grades_P_S
  const kept = problems.flatMap((problem, p) => (sampled[p].length > 0 ? [{ problem, p }] : []))
  if (kept.length === 0)
    throw new DataError(
      `${set}: nothing is left to evaluate: every one of ${problems.length} problems was left out, because its premises contradict each other or the solver failed on it`,
      { hint: 'check the premises of the file, for example with `gradus verify logic`' },
    )
  const items = kept.map(({ problem, p }) => itemOf(problem, sampled[p], greedy?.grades_P_S[p]))
  const all = sampled.flat()
  const column = (pick: (item: EvalItem) => number) => items.map(pick)
  return {
    step,
    set,
    n: items.length,
    samples: Math.max(1, samples),
    temperature: samples > 0 ? (sampling.temperature ?? 1) : 0,
    accuracy: mean(column(item => item.accuracy)),
    accuracyInterval: interval(column(item => item.accuracy)),
    correctAndValid: mean(column(item => item.correctAndValid!)),
    correctAndValidInterval: interval(column(item => item.correctAndValid!)),
    validProofs: share(all, grade => grade.validProof),
    correctAndProved: share(all, grade => grade.correctAndProved),
    ...greedyScores(items),
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
  accuracy: share(grades, grade => grade.answerCorrect),
  correctAndValid: share(grades, grade => grade.correctAndValid),
  criteria: criteriaOf(grades),
  ...(greedy.length > 0 && {
    greedyAccuracy: share(greedy, grade => grade.answerCorrect),
    greedyCorrectAndValid: share(greedy, grade => grade.correctAndValid),
  }),
})

/** Over the problems whose greedy response could be graded; nothing where none could. */
const greedyScores = (items: readonly EvalItem[]): Partial<EvalRow> => {
  const accuracy = items.flatMap(item => item.greedyAccuracy ?? [])
  const correctAndValid = items.flatMap(item => item.greedyCorrectAndValid ?? [])
  if (accuracy.length === 0) return {}
  return {
    greedyAccuracy: mean(accuracy),
    greedyAccuracyInterval: interval(accuracy),
    greedyCorrectAndValid: mean(correctAndValid),
    greedyCorrectAndValidInterval: interval(correctAndValid),
  }
}

/** Accuracy by label with its number of problems, and the balance over labels. */
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
        const { accuracy } = byLabel[label]
        if (accuracy === null) return []
        const own = rows.filter(({ problem }) => problem.label === label)
        const grades = own.flatMap(row => row.grades)
        return [[label, { n: own.length, accuracy, correctAndValid: share(grades, g => g.correctAndValid) }]]
      }),
    ),
    balance: { macroRecall, minClassRecall, predicted, trueBias },
  }
}

const baselineRows = (problems: readonly LogicTaskExample[]): EvalRow['baselines'] =>
  Object.fromEntries(
    shallowBaselines(problems).map(({ name, accuracy }) => [name, { accuracy, n: problems.length }]),
  )
