/** @file What a start of both roles on the logic task refuses before it trains; its plan refuses the same. */

import { loadConfig } from '../../model/checkpoint.ts'
import { isModel } from '../../model/model-files.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import { logicThinkingTask } from '../../tasks/logic/thinking/index.ts'
import { LOGIC_VOCABULARY } from '../../tasks/logic/vocabulary.ts'
import { CheckpointError, ConfigError } from '../../util/errors.ts'
import { modelComesLater, type Purpose } from '../common/purpose.ts'
import { assertLogicVocabulary, logicTokensOf, wholeModel } from '../common/starting-model.ts'
import type { LogicRubricPhase } from './config.ts'
import { testProblems, toldPrompt } from './evaluate.ts'

const task = logicThinkingTask()

/**
 * The folder of the model to start from; null in a plan whose model comes later. What a run refuses before it trains is refused here.
 * @throws ConfigError, DataError, CheckpointError for problems, contexts and models that do not go together
 */
export const checkLogicRubricStart = (config: LogicRubricPhase, purpose: Purpose): string | null => {
  const { evaluation, reasoners, maxPositions, start } = config
  for (const problem of testProblems(config).slice(0, FITTED)) {
    const told = toldPrompt(problem, config).length
    assertRoom(`problem ${problem.id} with hints`, told, evaluation.maxTokens, maxPositions)
    const asked = task.prompt(problem).length + Math.max(evaluation.maxTokens, reasoners.maxTokens)
    assertRoom(
      `problem ${problem.id} with its thinking, for a rubric`,
      asked,
      evaluation.rubricTokens,
      maxPositions,
    )
  }
  if (modelComesLater(start, purpose)) return null
  const folder = wholeModel(start, 'start')
  assertLogicVocabulary(folder)
  if (logicTokensOf(folder) > LOGIC_VOCABULARY.length)
    throw new CheckpointError(
      `start: expected a model of the logic task's ${LOGIC_VOCABULARY.length} tokens, got one of ${logicTokensOf(folder)} in ${folder}`,
      {
        hint: 'the words of rubrics come after those of the first vocabulary; start from a model without the long one',
      },
    )
  const { maxPositions: before } = readShape(folder)
  if (maxPositions < before)
    throw new ConfigError(`maxPositions: expected at least the start's ${before}, got ${maxPositions}`)
  return folder
}

/** Test problems that are looked at for their lengths. */
const FITTED = 64

const readShape = (folder: string) => {
  if (isModel(folder)) return loadConfig(folder)
  throw new CheckpointError(`start: expected a whole model in ${folder}, got an adapter`, {
    hint: 'the vocabulary of a whole model can grow; give the folder of the base model',
  })
}
