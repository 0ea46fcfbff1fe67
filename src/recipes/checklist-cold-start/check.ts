/** @file What a packing cold start refuses before it trains; its plan refuses the same. */

import type { ModelSource } from '../../policy/local/model-source.ts'
import { PackingWorld, splitTrips } from '../../tasks/checklist/index.ts'
import { assertTripsFit, freshPackingModel } from '../checklist/packing.ts'
import type { ChecklistPhase } from './config.ts'

/**
 * The model to start from. What a run refuses before it trains is refused here, for its plan as well.
 * @throws ConfigError, DataError for a shape that cannot be, or without room for prompts and lists
 */
export const checkChecklistColdStart = ({
  model,
  seed,
  world,
  thinking,
  evaluation,
}: ChecklistPhase): ModelSource => {
  const source = freshPackingModel(model.shape, seed, thinking)
  assertTripsFit(new PackingWorld(world), splitTrips().test, evaluation.maxTokens, model.shape)
  return source
}
