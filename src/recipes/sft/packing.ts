/** @file Learning to pack: lists of habit, and lists that follow hints. */

import type { z } from 'zod'
import type { packingStartSchema } from '../../tasks/checklist/cold-start.ts'
import {
  hintsOf,
  PackingWorld,
  packingStart,
  splitTrips,
  tripName,
  tripPrompt,
} from '../../tasks/checklist/index.ts'
import { freshPackingModel, packingCriterionNames } from '../checklist/packing.ts'
import { assertPackingVocabulary, assertThoughtVocabulary } from '../common/starting-model.ts'
import { type ConfigOf, type LearntTask, primarySetOf, taskEvaluation } from './learnt.ts'

/** Evaluated on the plain prompt, and on the prompt that says the whole rubric. */
export const learnPacking = (config: ConfigOf<z.output<typeof packingStartSchema>>): LearntTask => {
  const { thinking = false, hinted, world } = config.task
  const task = packingStart(config.task, config)
  return {
    draw: task.demonstrations,
    fresh: () => freshPackingModel(config.model.shape, config.seed, thinking),
    assertModel: thinking ? assertThoughtVocabulary : assertPackingVocabulary,
    rooms: () =>
      splitTrips().test.map(trip => ({
        what: `trip ${tripName(trip)}`,
        promptTokens: tripPrompt(trip, hintsOf(task.rubric(trip).criteria)).length,
        newTokens: config.evaluation.maxTokens,
      })),
    primarySet: primarySetOf(task),
    criterionNames: packingCriterionNames(new PackingWorld(world)),
    evaluate: policy => taskEvaluation(config, policy, [{ task, full: true }]),
    words: {
      training: `${100 * hinted}% of them with hints`,
      evaluation: 'unseen trips, on the plain prompt and with the whole rubric as a scaffold',
    },
  }
}
