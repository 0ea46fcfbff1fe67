/** @file What a run of rlcer refuses before it trains; its plan refuses the same. */

import type { ModelConfig } from '../../model/config.ts'
import { assertRoom } from '../../policy/local/sampler.ts'
import { checkArithmeticColdStart } from '../arithmetic-cold-start/run.ts'
import { givenModel, type Purpose } from '../common/phase.ts'
import { startShape } from '../common/plan.ts'
import { assertArithmeticVocabulary } from '../common/starting-model.ts'
import { arithmeticModelConfig } from '../reasoning/arithmetic.ts'
import { arithmeticQuestions } from './arithmetic-questions.ts'
import { checkSettings } from './check-settings.ts'
import type { RlcerConfig } from './config.ts'
import { checkVerifier } from './verifiers.ts'

/**
 * The checkpoint to start from; null when a cold start makes one, and in a plan when it comes later.
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const check = (config: RlcerConfig, purpose: Purpose): string | null => {
  checkSettings(config)
  const given = givenModel(config, 'arithmetic-cold-start', purpose)
  if (given !== null) assertArithmeticVocabulary(given)
  if (config.coldStart !== null) checkArithmeticColdStart(config.coldStart)
  checkVerifier(config, purpose)
  const shape = modelShape(config)
  if (shape) checkRoom(config, shape)
  return given
}

/** Shape of the model at the start; null where it is unknown before the model is there. */
export const modelShape = (config: RlcerConfig): ModelConfig | null =>
  startShape(config, arithmeticModelConfig)

/** Test problems that are looked at for their lengths. */
const FITTED = 64

/** A question leaves room for thinking, and with as much thinking as there may be for a rubric. */
const checkRoom = (config: RlcerConfig, { maxPositions }: ModelConfig): void => {
  const { task, test } = arithmeticQuestions(config)
  const { rollout, rubricator } = config
  for (const problem of test.slice(0, FITTED)) {
    const { length } = task.prompt(problem)
    assertRoom(`problem ${task.name(problem)}`, length, rollout.maxTokens, maxPositions)
    assertRoom(
      `problem ${task.name(problem)} with ${rollout.maxTokens} tokens of thinking, for a rubric (rubricator.maxTokens)`,
      length + rollout.maxTokens,
      rubricator.maxTokens,
      maxPositions,
    )
  }
}
