/** @file The packing miniature as ruscarl trains on it. */

import { PackingWorld, splitTrips, type Trip, tripName } from '../../tasks/checklist/index.ts'
import { ALL_TRIPS } from '../../tasks/checklist/world.ts'
import { RewardNoise } from '../checklist/noise.ts'
import { PackingTask } from '../checklist/packing.ts'
import { scriptedGroups } from '../common/group-reward.ts'
import type { RubricTask } from '../common/rubric-task.ts'
import { ALL_ROLLOUTS } from '../common/second-opinion.ts'
import type { RuscarlConfig } from './config.ts'
import { trainingRubrics, trainingScore } from './rubrics.ts'

/** The set of unseen trips: by its topics, where others are held out. */
export const packingTestName = ({ heldOutTopics = 0 }: Pick<RuscarlConfig, 'heldOutTopics'>): string =>
  heldOutTopics > 0 ? 'seen topics' : 'unseen trips'

/** Trips of the configured world. */
export const packingTask = (config: RuscarlConfig): RubricTask<Trip> => {
  const world = new PackingWorld(config.world)
  const { train, test, heldOut: unseen } = splitTrips(undefined, config.heldOutTopics)
  const source = { name: tripName, rubric: (trip: Trip) => world.rubric(trip) }
  const { rules, carelessJudge: careless = false } = config
  const truth = new PackingTask(world, { rules })
  const spoilt =
    careless ||
    config.groupJudge !== undefined ||
    config.noise !== 'none' ||
    config.flipRate > 0 ||
    config.reward === 'random'
  const noise = new RewardNoise({ flipRate: config.flipRate, randomScores: config.reward === 'random' })
  const reward = new PackingTask(world, {
    rules,
    rubricOf: trainingRubrics(config, source, ALL_TRIPS),
    score: trainingScore(config.noise),
    noise,
    careless,
  })
  const { groupJudge } = config
  return {
    train,
    test,
    testName: packingTestName(config),
    ...(unseen.length > 0 && { otherTests: [{ name: 'held-out topics', problems: unseen }] }),
    orderLabel: 'packing trips',
    reward,
    truth,
    ...(spoilt && { heldOut: { task: truth, rollouts: ALL_ROLLOUTS, testName: null } }),
    ...(careless && { trainingJudge: reward }),
    ...(groupJudge?.kind === 'scripted' && {
      groups: scriptedGroups(groupJudge, groupJudge.sees === 'truth' ? truth : reward),
    }),
    notes: [],
    close: async () => {},
  }
}
