/** @file The arithmetic miniature as rlcer trains on it. */

import {
  ARITHMETIC_GRAMMAR,
  ARITHMETIC_TEST_SEED,
  type ArithmeticProblem,
  answerIn,
  arithmeticProblem,
  populationCorrelations,
  rubricAutomaton,
  worthOf,
} from '../../tasks/arithmetic/index.ts'
import { ArithmeticTask, ArithmeticVerifier } from '../reasoning/arithmetic.ts'
import type { RlcerConfig } from './config.ts'
import { grammarQuestions } from './grammar-questions.ts'
import type { Questions, WorthIn } from './questions.ts'
import type { ArithmeticConfig } from './task-config.ts'

export const arithmeticQuestions = (
  task: ArithmeticConfig,
  config: Pick<RlcerConfig, 'seed' | 'evaluation' | 'rubricator'>,
): Questions<ArithmeticProblem> => {
  const { operations } = task
  const miniature = {
    name: 'arithmetic problems',
    task: new ArithmeticTask(),
    exact: new ArithmeticVerifier(),
    grammar: ARITHMETIC_GRAMMAR,
    automaton: rubricAutomaton,
    problemAt: (index: number) => arithmeticProblem(`train/${config.seed}`, index, { operations }),
    testAt: (index: number) => arithmeticProblem(ARITHMETIC_TEST_SEED, index, { operations }),
  }
  return { ...grammarQuestions(task, miniature, config), worthIn }
}

/** By predicate, whatever its places hold: over all of a population there are enough responses to know it well. */
const worthIn: WorthIn<ArithmeticProblem> = groups => {
  const correlations = populationCorrelations(
    groups.map(({ problem, responses }) => ({
      problem,
      responses: responses.map(response => ({ thinking: response.thinking, answer: answerIn(response) })),
    })),
  )
  return criterion => worthOf(criterion, correlations)
}
