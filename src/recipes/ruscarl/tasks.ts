/** @file The packing miniature as ruscarl trains on it. */

import { PackingWorld, packingTask, type Trip } from '../../tasks/checklist/index.ts'
import { ALL_TRIPS } from '../../tasks/checklist/world.ts'
import { scored } from '../../tasks/scored-response.ts'
import { careless } from '../checklist/careless.ts'
import { scriptedGroups } from '../common/group-reward.ts'
import { asTrained, isSpoilt, trainingRubrics } from '../common/reward-options.ts'
import type { RubricTask } from '../common/rubric-task.ts'
import { ALL_ROLLOUTS } from '../common/second-opinion.ts'
import type { RuscarlConfig } from './config.ts'

/** Trips of the configured world. */
export const packingTraining = (config: RuscarlConfig): RubricTask<Trip> => {
  const { groupJudge, carelessJudge = false } = config
  const task = packingTask(new PackingWorld(config.world), config)
  const truth = scored(task)
  const rubricOf = trainingRubrics(config, task, ALL_TRIPS)
  const { heard, reward } = asTrained(config, carelessJudge ? careless(task) : task, {
    rubricOf,
    groups: own =>
      groupJudge?.kind === 'scripted'
        ? scriptedGroups(groupJudge, groupJudge.sees === 'truth' ? truth : own)
        : null,
  })
  return {
    reward,
    truth,
    ...((carelessJudge || isSpoilt(config)) && {
      heldOut: { task: truth, rollouts: ALL_ROLLOUTS, testName: null },
    }),
    ...(carelessJudge && { trainingJudge: heard }),
    close: async () => {},
  }
}
