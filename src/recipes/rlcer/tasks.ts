/** @file Which task a configuration names. */

import { openQuestions } from '../../tasks/questions/index.ts'
import type { TaskWith } from '../../tasks/task.ts'
import { LOGIC_THINKING, MINIATURES } from '../common/miniatures.ts'
import type { RlcerConfig } from './config.ts'

type Use<Result> = <Problem>(task: TaskWith<Problem, 'thinking' | 'rubricator'>) => Result

type TaskSettings = Pick<RlcerConfig, 'task' | 'seed' | 'evaluation' | 'rollout' | 'rubricator'>

/** Does something with a miniature, which needs no files and no model; null for questions. @throws ConfigError for problems that no generator can hold */
export const withMiniature = <Result>(
  { task, seed, evaluation }: TaskSettings,
  use: Use<Result>,
): Result | null => {
  if (task.kind === 'questions') return null
  const draw = { seed: `train/${seed}`, tests: Math.max(evaluation.problems, evaluation.rubrics) }
  return task.kind === 'logic'
    ? use(LOGIC_THINKING.open(task, draw))
    : use(MINIATURES.arithmetic.open(task, draw))
}

/**
 * Does something with the configured task.
 * @param folder of the model
 * @throws ConfigError, DataError, CheckpointError for files and models that cannot be used
 */
export const withRlcerTask = <Result>(config: TaskSettings, folder: string, use: Use<Result>): Result => {
  const { task, rollout, rubricator } = config
  if (task.kind !== 'questions') return withMiniature(config, use)!
  const maxTokens = Math.max(rollout.maxTokens, rubricator.maxTokens, config.evaluation.maxTokens ?? 0)
  return use(openQuestions({ task, folder, rubricator: true, maxTokens }))
}
