/** @file The packing miniature as ruscarl trains on it. */

import { PackingWorld, packingTask, type Trip } from '../../tasks/checklist/index.ts'
import { ALL_TRIPS } from '../../tasks/checklist/world.ts'
import { scored } from '../../tasks/scored-response.ts'
import { careless } from '../checklist/careless.ts'
import { scriptedGroups, withGroupJudge } from '../common/group-reward.ts'
import { withDropout } from '../common/rubric-dropout.ts'
import type { RubricTask } from '../common/rubric-task.ts'
import { ALL_ROLLOUTS } from '../common/second-opinion.ts'
import type { RuscarlConfig } from './config.ts'
import { asTrained, trainingRubrics } from './rubrics.ts'

/** Trips of the configured world. */
export const packingTraining = (config: RuscarlConfig): RubricTask<Trip> => {
  const { groupJudge, carelessJudge = false, noise, flipRate, reward: paid } = config
  const task = packingTask(new PackingWorld(config.world), config)
  const truth = scored(task)
  const rubricOf = trainingRubrics(config, task, ALL_TRIPS)
  const heard = asTrained(config, carelessJudge ? careless(task) : task, { rubricOf })
  const reward = withDropout(config, heard)
  const isSpoilt =
    carelessJudge || groupJudge !== undefined || noise !== 'none' || flipRate > 0 || paid === 'random'
  return {
    reward:
      groupJudge?.kind === 'scripted'
        ? withGroupJudge(
            config,
            reward,
            scriptedGroups(groupJudge, groupJudge.sees === 'truth' ? truth : heard),
          )
        : reward,
    truth,
    ...(isSpoilt && { heldOut: { task: truth, rollouts: ALL_ROLLOUTS, testName: null } }),
    ...(carelessJudge && { trainingJudge: heard }),
    close: async () => {},
  }
}
