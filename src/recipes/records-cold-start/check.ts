/** @file What a records cold start refuses before it trains; its plan refuses the same. */

import type { ModelSource } from '../../policy/local/model-source.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import { agentPrompt } from '../../tasks/records/index.ts'
import type { RecordsPhase } from './config.ts'
import { LENGTHS, testQuestions } from './evaluate.ts'
import { freshRecordsModel } from './model.ts'

/**
 * The model to start from. What a run refuses before it trains is refused here, for its plan as well.
 * @throws ConfigError, DataError for a shape that cannot be, or without room for an attempt and a reflection on it
 */
export const checkRecordsColdStart = (config: RecordsPhase): ModelSource => {
  const { shape } = config.model
  const source = freshRecordsModel(shape, config.seed)
  const [question] = testQuestions({ ...config, evaluation: { ...config.evaluation, problems: 1 } })
  const asked = agentPrompt(question).length + LENGTHS.attempt
  assertRoom('an attempt, for a reflection', asked, LENGTHS.reflection, shape.maxPositions)
  return source
}
