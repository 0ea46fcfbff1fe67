/** @file What a run of rubric-as-reward refuses before it trains; its plan refuses the same. */

import { checkTrainingSeed } from '../../tasks/logic/testsets.ts'
import { givenModel, type Purpose } from '../common/phase.ts'
import { startShape } from '../common/plan.ts'
import { assertLogicVocabulary } from '../common/starting-model.ts'
import { assertProblemsFit, formatFor } from '../logic/format.ts'
import { checkLogicColdStart } from '../logic-cold-start/check.ts'
import { logicModelConfig } from '../logic-cold-start/model.ts'
import { checkSettings } from './check-settings.ts'
import type { RubricAsRewardConfig } from './config.ts'
import { testSet } from './evaluation.ts'
import { problemSource } from './problems.ts'

/**
 * The checkpoint to start from; null when a cold start makes one, and in a plan when it comes later.
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const check = (config: RubricAsRewardConfig, purpose: Purpose): string | null => {
  checkTrainingSeed(config.seed)
  checkSettings(config)
  const given = givenModel(config, 'logic-cold-start', purpose)
  if (given !== null && config.task.prompt === 'miniature') assertLogicVocabulary(given)
  if (config.coldStart !== null) checkLogicColdStart(config.coldStart)
  checkProblems(config, given)
  return given
}

/** Problems can be read, and leave room for an answer where the model is known that answers. */
const checkProblems = (config: RubricAsRewardConfig, given: string | null): void => {
  const { task, rollout, evaluation } = config
  const problemAt = problemSource(config)
  const tested = evaluation.sets.map(set => testSet(config, set, FITTED))
  const shape = startShape(config, logicModelConfig)
  if (shape === null || (given === null && config.coldStart === null)) return
  const format = formatFor(task.prompt, given ?? '')
  const trained = Array.from({ length: Math.min(FITTED, rollout.prompts) }, (_, i) => problemAt(i))
  assertProblemsFit([...tested.flat(), ...trained], format, rollout.maxTokens, shape)
}

/** Problems of each set that are looked at for their lengths. */
const FITTED = 64
