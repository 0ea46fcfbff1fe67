/** @file The arithmetic miniature as rlcer trains on it. */

import {
  ARITHMETIC_GRAMMAR,
  ARITHMETIC_TEST_SEED,
  type ArithmeticProblem,
  arithmeticProblem,
  rubricAutomaton,
  scriptedCorrelations,
  worthOf,
} from '../../tasks/arithmetic/index.ts'
import { ArithmeticTask, ArithmeticVerifier } from '../reasoning/arithmetic.ts'
import type { RlcerConfig } from './config.ts'
import { grammarQuestions } from './grammar-questions.ts'
import type { Questions } from './questions.ts'
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
  const correlations = scriptedCorrelations()
  return {
    ...grammarQuestions(task, miniature, config),
    worth: criterion => worthOf(criterion, correlations),
  }
}
