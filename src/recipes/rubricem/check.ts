/** @file What a run of rubricem refuses before it trains; its plan refuses the same. */

import { checkWindow } from '../../memory/index.ts'
import type { ModelConfig } from '../../model/config.ts'
import { assertRoom } from '../../policy/local/sampler.ts'
import { recordsQuestion } from '../../tasks/records/index.ts'
import { ConfigError } from '../../util/errors.ts'
import { givenModel, type Purpose } from '../common/phase.ts'
import { startShape } from '../common/plan.ts'
import { assertRecordsVocabulary } from '../common/starting-model.ts'
import { RECORDS_TEST_WORLD } from '../records-cold-start/evaluate.ts'
import { recordsModelConfig } from '../records-cold-start/model.ts'
import { checkRecordsColdStart } from '../records-cold-start/run.ts'
import type { RubricemConfig } from './config.ts'
import { RecordsTask } from './records.ts'

/**
 * The checkpoint to start from; null when a cold start makes one, and in a plan when it comes later.
 * @throws ConfigError, DataError, CheckpointError for settings and models that a run cannot use
 */
export const check = (config: RubricemConfig, purpose: Purpose): string | null => {
  const { reflection, window, memory, rollout, policy, pipeline } = config
  checkWindow(window, reflection.enabled && memory.kind === 'bank')
  if (rollout.samples < 2)
    throw new ConfigError(`rollout.samples: expected at least 2, got ${rollout.samples}`, {
      hint: 'rollouts of a question are compared with each other',
    })
  if (policy.sampler && !pipeline)
    throw new ConfigError('policy.sampler: expected nothing without pipeline, got settings', {
      hint: 'set pipeline: true, or leave policy.sampler out',
    })
  const given = givenModel(config, 'records-cold-start', purpose)
  if (given !== null) assertRecordsVocabulary(given)
  if (config.coldStart !== null) checkRecordsColdStart(config.coldStart)
  const shape = startShape(config, recordsModelConfig)
  if (shape) checkRoom(config, shape)
  return given
}

/** An attempt fits behind its question with references, and a reflection behind both. */
const checkRoom = (config: RubricemConfig, { maxPositions }: ModelConfig): void => {
  const task = new RecordsTask(config.task)
  const question = recordsQuestion(RECORDS_TEST_WORLD, 0, config.task)
  const { length } = task.prompt(question, null)
  const { tokens } = task.limits
  assertRoom('an attempt at a question', length, tokens, maxPositions)
  if (config.reflection.enabled)
    assertRoom(
      'an attempt, for a reflection (reflection.maxTokens)',
      length + tokens,
      config.reflection.maxTokens,
      maxPositions,
    )
}
