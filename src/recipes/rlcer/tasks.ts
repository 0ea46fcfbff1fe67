/** @file Which task a configuration names. */

import { ARITHMETIC_TEST_SEED, arithmeticProblem, arithmeticTask } from '../../tasks/arithmetic/index.ts'
import { logicThinkingTask } from '../../tasks/logic/thinking/index.ts'
import { openQuestions } from '../../tasks/questions/index.ts'
import type { Problems, TaskWith } from '../../tasks/task.ts'
import { LOGIC_RUBRIC_TEST_SEED, logicProblems } from '../logic-rubric-start/problems.ts'
import type { RlcerConfig } from './config.ts'

type Use<Result> = <Problem>(task: TaskWith<Problem, 'thinking' | 'rubricator'>) => Result

type TaskSettings = Pick<RlcerConfig, 'task' | 'seed' | 'evaluation' | 'rollout' | 'rubricator'>

/** Problem i of training and of a test. */
type Stream<Problem> = (index: number) => Problem

/** A pool of problems that recur, or new ones without end. */
const pooled = <Problem>(
  pool: number | null,
  { evaluation }: Pick<RlcerConfig, 'evaluation'>,
  train: Stream<Problem>,
  test: Stream<Problem>,
): Problems<Problem> => {
  const first = (count: number, from: Stream<Problem>) => Array.from({ length: count }, (_, i) => from(i))
  const tests = { 'unseen problems': first(Math.max(evaluation.problems, evaluation.rubrics), test) }
  return { tests, ...(pool === null ? { stream: train } : { train: first(pool, train) }) }
}

/** Does something with a miniature, which needs no files and no model; null for questions. @throws ConfigError for problems that no generator can hold */
export const withMiniature = <Result>(config: TaskSettings, use: Use<Result>): Result | null => {
  const { task } = config
  if (task.kind === 'questions') return null
  const seed = `train/${config.seed}`
  if (task.kind === 'logic') {
    const [train, test] = [logicProblems(task, seed), logicProblems(task, LOGIC_RUBRIC_TEST_SEED)]
    return use(logicThinkingTask(pooled(task.pool, config, train, test), task.outcomes))
  }
  const { operations } = task
  const drawn = (from: string) => (index: number) => arithmeticProblem(from, index, { operations })
  const problems = pooled(task.pool, config, drawn(seed), drawn(ARITHMETIC_TEST_SEED))
  return use(arithmeticTask(problems, task.outcomes))
}

/**
 * Does something with the configured task.
 * @param folder of the model
 * @throws ConfigError, DataError, CheckpointError for files and models that cannot be used
 */
export const withTask = <Result>(config: TaskSettings, folder: string, use: Use<Result>): Result => {
  const { task, rollout, rubricator } = config
  if (task.kind !== 'questions') return withMiniature(config, use)!
  const maxTokens = Math.max(rollout.maxTokens, rubricator.maxTokens)
  return use(openQuestions({ task, folder, rubricator: true, maxTokens }))
}
