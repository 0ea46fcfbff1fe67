/** @file Learning miniatures: lists of habit and such as follow hints; arithmetic with chains of thought, and rubrics about them. */

import type { z } from 'zod'
import { PENALTY } from '../../runs/criterion-words.ts'
import type { arithmeticStartSchema } from '../../tasks/arithmetic/cold-start.ts'
import { arithmeticStart } from '../../tasks/arithmetic/index.ts'
import { arithmeticRubricator } from '../../tasks/arithmetic/rubricator.ts'
import type { packingStartSchema } from '../../tasks/checklist/cold-start.ts'
import {
  hintsOf,
  PackingWorld,
  packingStart,
  splitTrips,
  tripName,
  tripPrompt,
} from '../../tasks/checklist/index.ts'
import { mainTest } from '../../tasks/task.ts'
import { assertWords, freshModel } from '../common/word-models.ts'
import { type ConfigOf, type LearntTask, taskEvaluation } from './learnt.ts'
import { learnRoles } from './roles.ts'

/** Names for reports: a reader has to see which criteria a response had better not meet. */
export const packingCriterionNames = (world: number | string): Record<string, string> => {
  const { criteria } = new PackingWorld(world).rubric({ topic: 0, occasion: 0, companion: 0 })
  return Object.fromEntries(criteria.filter(({ points }) => points < 0).map(({ id }) => [id, PENALTY]))
}

/** Evaluated on the plain prompt, and on the prompt that says the whole rubric. */
export const learnPacking = (config: ConfigOf<z.output<typeof packingStartSchema>>): LearntTask => {
  const { thinking = false, hinted, world } = config.task
  const words = thinking ? 'packing-thinking' : 'packing'
  const task = packingStart(config.task, config)
  return {
    draw: task.demonstrations,
    fresh: () => freshModel(words, config.model.shape, config.seed),
    assertModel: assertWords(words),
    rooms: () =>
      splitTrips().test.map(trip => ({
        what: `trip ${tripName(trip)}`,
        promptTokens: tripPrompt(trip, hintsOf(task.rubric(trip).criteria)).length,
        newTokens: config.evaluation.maxTokens,
      })),
    primarySet: mainTest(task)[0],
    criterionNames: packingCriterionNames(world),
    evaluate: policy => taskEvaluation(config, policy, [{ task, full: true }]),
    words: {
      training: `${100 * hinted}% of them with hints`,
      evaluation: 'unseen trips, on the plain prompt and with the whole rubric as a scaffold',
    },
  }
}

/** Evaluated by right answers, and by how often hints are met that are given, and that are not. */
export const learnArithmetic = (config: ConfigOf<z.output<typeof arithmeticStartSchema>>): LearntTask => {
  const { seed, batch, evaluation } = config
  const { task, hints } = arithmeticStart(config.task, { seed, batch, tested: evaluation.problems })
  return {
    ...learnRoles(config, {
      task,
      draw: (problem, rng) => arithmeticRubricator.propose(problem, config.task.rubric, rng).text,
      tested: [{ task }, { task: hints, full: true }],
      words: { evaluation: 'unseen problems, without hints and with hints that are to be followed' },
    }),
    draw: task.demonstrations,
    fresh: () => freshModel('arithmetic', config.model.shape, seed),
    assertModel: assertWords('arithmetic'),
    rooms: () =>
      hints.tests.hints.map(problem => ({
        what: `problem ${problem.id} with hints`,
        promptTokens: task.prompt(problem, hints.rubric(problem).criteria).length,
        newTokens: evaluation.maxTokens,
      })),
  }
}
