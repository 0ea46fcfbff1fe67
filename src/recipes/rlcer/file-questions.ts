/** @file Questions of files as rlcer trains on them: answered, and judged by rubrics, by a chat model. */

import { openQuestions, type Question } from '../../tasks/questions/index.ts'
import { shuffledPasses } from '../common/problem-order.ts'
import type { RlcerConfig } from './config.ts'
import type { Questions } from './questions.ts'
import type { QuestionsConfig } from './task-config.ts'

/**
 * @param folder of the model
 * @throws ConfigError, DataError, CheckpointError for files and models that cannot be used
 */
export const fileQuestions = (
  config: QuestionsConfig,
  { rollout, rubricator, seed }: Pick<RlcerConfig, 'rollout' | 'rubricator' | 'seed'>,
  folder: string,
): Questions<Question> => {
  const { task, train, test, notes } = openQuestions({
    ...{ task: config, folder, rubricator: true },
    maxTokens: Math.max(rollout.maxTokens, rubricator.maxTokens),
  })
  return {
    ...{ task, test, notes },
    train: shuffledPasses(train, `questions/${seed}`),
    close: async () => {},
  }
}
