/** @file The arithmetic miniature as rlcer trains on it. */

import type { Verdict } from '../../rubric/criterion.ts'
import {
  ARITHMETIC_TEST_SEED,
  type ArithmeticProblem,
  arithmeticProblem,
  readCriterion,
  rubricAutomaton,
} from '../../tasks/arithmetic/index.ts'
import type { ThinkingVerifier } from '../../tasks/thinking.ts'
import { type ProblemStream, shuffledPasses } from '../common/problem-order.ts'
import { ArithmeticTask, ArithmeticVerifier } from '../reasoning/arithmetic.ts'
import type { RlcerConfig } from './config.ts'
import type { Questions } from './questions.ts'
import type { ArithmeticConfig } from './task-config.ts'

type Settings = Pick<RlcerConfig, 'seed' | 'evaluation' | 'rubricator'>

export const arithmeticQuestions = (
  task: ArithmeticConfig,
  { seed, evaluation, rubricator }: Settings,
): Questions<ArithmeticProblem> => {
  const { operations } = task
  const test = Math.max(evaluation.problems, evaluation.rubrics)
  const exact = new ArithmeticVerifier()
  return {
    task: new ArithmeticTask(),
    train: trainingProblems(task, seed),
    test: Array.from({ length: test }, (_, i) => arithmeticProblem(ARITHMETIC_TEST_SEED, i, { operations })),
    exact: task.outcomes ? exact : withoutOutcomes(exact),
    ...(rubricator.constrained && { rubricAutomaton: automatonOf(task, rubricator.format) }),
    notes: [],
    close: async () => {},
  }
}

const automatonOf = (
  { outcomes }: ArithmeticConfig,
  { minCriteria: min, maxCriteria: max }: RlcerConfig['rubricator']['format'],
) => rubricAutomaton({ criteria: { min, max }, outcomes })

/** New ones without end, or passes over a pool. */
const trainingProblems = (
  { operations, pool }: ArithmeticConfig,
  seed: number | string,
): ProblemStream<ArithmeticProblem> => {
  const problemAt = (index: number) => arithmeticProblem(`train/${seed}`, index, { operations })
  if (pool === null) return problemAt
  return shuffledPasses(
    Array.from({ length: pool }, (_, i) => problemAt(i)),
    `arithmetic problems/${seed}`,
  )
}

/** Criteria that read the last result have no verdict. */
const withoutOutcomes = (
  exact: ThinkingVerifier<ArithmeticProblem>,
): ThinkingVerifier<ArithmeticProblem> => ({
  verify: async items => {
    const verdicts = await exact.verify(items)
    return items.map(({ rubric: { criteria } }, i) =>
      criteria.map(({ id, text }, k): Verdict => {
        if (readCriterion(text)?.predicate.outcome !== true) return verdicts[i][k]
        return { criterionId: id, met: null, source: 'rule', explanation: 'it reads the outcome' }
      }),
    )
  },
})
