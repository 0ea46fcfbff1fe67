/** @file What a run of rubric-as-reward refuses before it trains; its plan refuses the same. */

import type { ModelConfig } from '../../model/config.ts'
import { vocabularyFor } from '../../tasks/logic/lengths.ts'
import { checkTrainingSeed } from '../../tasks/logic/testsets.ts'
import type { ModelShape } from '../../train/config.ts'
import { ConfigError } from '../../util/errors.ts'
import { givenModel, type Purpose } from '../common/phase.ts'
import { startShape } from '../common/plan.ts'
import { assertLogicVocabulary, logicWordsOf } from '../common/starting-model.ts'
import { assertProblemsFit, formatFor, miniatureFormat } from '../logic/format.ts'
import { checkLogicColdStart } from '../logic-cold-start/check.ts'
import { logicModelConfig } from '../logic-cold-start/model.ts'
import { coldStartVocabulary, sourcesOf } from '../logic-cold-start/recipe.ts'
import { checkSettings } from './check-settings.ts'
import type { RubricAsRewardConfig } from './config.ts'
import { hopSets, testSet } from './evaluation.ts'
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
  checkDemonstrations(config, given)
  return given
}

/** Shape of the model that a cold start makes, over the words that it has. */
export const modelOf =
  ({ coldStart }: Pick<RubricAsRewardConfig, 'coldStart'>) =>
  (shape: ModelShape): ModelConfig =>
    logicModelConfig(shape, coldStart ? coldStartVocabulary(coldStart) : undefined)

/** Problems can be read, and leave room for an answer where the model is known that answers. */
const checkProblems = (config: RubricAsRewardConfig, given: string | null): void => {
  const { task, rollout, evaluation } = config
  const problemAt = problemSource(config)
  const tested = [
    ...evaluation.sets.map(set => testSet(config, set, FITTED)),
    ...hopSets(config, FITTED).map(({ problems }) => problems),
  ]
  const shape = startShape(config, modelOf(config))
  if (shape === null || (given === null && config.coldStart === null)) return
  const format =
    given === null
      ? miniatureFormat(coldStartVocabulary(config.coldStart!).length)
      : formatFor(task.prompt, given)
  const trained = Array.from({ length: Math.min(FITTED, rollout.prompts) }, (_, i) => problemAt(i))
  assertProblemsFit([...tested.flat(), ...trained], format, rollout.maxTokens, shape)
}

/** The start knows the words of what it is to go on learning. @throws ConfigError */
const checkDemonstrations = ({ demonstrations }: RubricAsRewardConfig, given: string | null): void => {
  if (demonstrations === undefined || given === null) return
  const needed = vocabularyFor(sourcesOf(demonstrations), demonstrations.numberedTo).length
  const known = logicWordsOf(given)
  if (needed > known)
    throw new ConfigError(
      `demonstrations: expected what takes the ${known} words of the model, got problems or step numbers that take ${needed}`,
      { hint: 'lower kinds, hops or numberedTo, or start from a model with the long vocabulary' },
    )
}

/** Problems of each set that are looked at for their lengths. */
const FITTED = 64
