/** @file What an arithmetic cold start refuses before it trains; its plan refuses the same. */

import { loadConfig } from '../../model/checkpoint.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import { modelComesLater, type Purpose } from '../common/purpose.ts'
import { assertArithmeticVocabulary, wholeModel } from '../common/starting-model.ts'
import { freshArithmeticModel } from '../reasoning/arithmetic.ts'
import type { ArithmeticPhase } from './config.ts'
import { testProblems, toldPrompt } from './evaluate.ts'

/**
 * The model to start from; null in a plan whose start comes later. What a run refuses before it trains is refused here, for its
 * plan as well.
 * @throws ConfigError, DataError, CheckpointError for a shape that cannot be, or without room for prompts and thinking
 */
export const checkArithmeticColdStart = (
  config: ArithmeticPhase,
  purpose: Purpose = 'run',
): ModelSource | null => {
  const { evaluation, start = null } = config
  if (start !== null && modelComesLater(start, purpose)) return null
  const source = sourceOf(config)
  const { maxPositions } = source.folder ? loadConfig(source.folder) : source.init!.config
  for (const problem of testProblems(config))
    assertRoom(
      `problem ${problem.id} with hints`,
      toldPrompt(problem, config).length,
      evaluation.maxTokens,
      maxPositions,
    )
  return source
}

const sourceOf = ({ start = null, model, seed }: ArithmeticPhase): ModelSource => {
  if (start === null) return freshArithmeticModel(model.shape, seed)
  const folder = wholeModel(start, 'start')
  assertArithmeticVocabulary(folder)
  return { folder }
}
