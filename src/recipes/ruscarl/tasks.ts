/** @file Tasks as ruscarl trains on them: scored with the options of rewards, and for the truth. */

import type { Trip } from '../../tasks/checklist/index.ts'
import { ALL_TRIPS } from '../../tasks/checklist/world.ts'
import { scored } from '../../tasks/scored-response.ts'
import type { Task } from '../../tasks/task.ts'
import { careless } from '../checklist/careless.ts'
import { MINIATURES } from '../common/miniatures.ts'
import type { RubricTask } from '../common/rubric-task.ts'
import { scriptedGroups } from '../options/group-judge.ts'
import { ALL_ROLLOUTS } from '../options/held-out-judge.ts'
import { asTrained, isSpoilt } from '../options/options.ts'
import { trainingRubrics } from '../options/spoilt-rewards.ts'
import type { RuscarlConfig, RuscarlOn } from './config.ts'

/**
 * A task whose graders know the truth.
 * @param judged the same task with the graders of training, where those are others
 * @param problems all that rubrics can be mixed up among
 */
export const training = <Problem>(
  config: RuscarlConfig,
  task: Task<Problem>,
  { judged = task, problems = task.train }: { judged?: Task<Problem>; problems?: readonly Problem[] } = {},
): RubricTask<Problem> => {
  const { groupJudge } = config
  const truth = scored(task)
  const { heard, reward } = asTrained(config, judged, {
    rubricOf: trainingRubrics(config, task, problems),
    groups: own =>
      groupJudge?.kind === 'scripted'
        ? scriptedGroups(groupJudge, groupJudge.sees === 'truth' ? truth : own)
        : null,
  })
  const isOther = judged !== task
  return {
    reward,
    truth,
    ...((isOther || isSpoilt(config)) && {
      heldOut: { task: truth, rollouts: ALL_ROLLOUTS, testName: null },
    }),
    ...(isOther && { trainingJudge: heard }),
    close: async () => task.close?.(),
  }
}

/** Trips of the configured world. */
export const packingTraining = (config: RuscarlOn<'packing'>): RubricTask<Trip> => {
  const task = MINIATURES.packing.open(config.task, config)
  const judged = config.task.carelessJudge ? careless(task) : task
  return training(config, task, { judged, problems: ALL_TRIPS })
}
