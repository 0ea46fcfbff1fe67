/** @file The packing miniature as ruscarl trains on it. */

import { PackingWorld, splitTrips, type Trip, tripName } from '../../tasks/checklist/index.ts'
import { ALL_TRIPS } from '../../tasks/checklist/world.ts'
import { RewardNoise } from '../checklist/noise.ts'
import { PackingTask } from '../checklist/packing.ts'
import type { RubricTask } from '../common/rubric-task.ts'
import { ALL_ROLLOUTS } from '../common/second-opinion.ts'
import type { RuscarlConfig } from './config.ts'
import { trainingRubrics, trainingScore } from './rubrics.ts'

/** Trips of the configured world. */
export const packingTask = (config: RuscarlConfig): RubricTask<Trip> => {
  const world = new PackingWorld(config.world)
  const { train, test } = splitTrips()
  const source = { name: tripName, rubric: (trip: Trip) => world.rubric(trip) }
  const { rules } = config
  const truth = new PackingTask(world, { rules })
  const spoilt = config.noise !== 'none' || config.flipRate > 0 || config.reward === 'random'
  const noise = new RewardNoise({ flipRate: config.flipRate, randomScores: config.reward === 'random' })
  return {
    train,
    test,
    testName: 'unseen trips',
    orderLabel: 'packing trips',
    reward: new PackingTask(world, {
      rules,
      rubricOf: trainingRubrics(config, source, ALL_TRIPS),
      score: trainingScore(config.noise),
      noise,
    }),
    truth,
    ...(spoilt && { heldOut: { task: truth, rollouts: ALL_ROLLOUTS, testName: null } }),
    notes: [],
    close: async () => {},
  }
}
