/** @file What a client that knows only numbers gets where there is no reward. */

import { ServiceError } from '../errors.ts'
import type { RewardResult } from '../item.ts'

/** Seconds after which a client should ask again for a reward that could not be had. */
const RETRY_AFTER_S = 5

/**
 * Rewards as numbers: a null becomes what the route is set to.
 * @throws ServiceError (503) where the route is set to `error`, so that the client tries again.
 */
export const numericRewards = (results: readonly RewardResult[], onNull: number | 'error' | null): number[] =>
  results.map(({ reward, reason }, index) => {
    if (reward !== null) return reward
    if (typeof onNull === 'number') return onNull
    throw new ServiceError('no_reward', `item ${index}: there is no reward (${reason ?? 'no verdict'})`, {
      retryAfterS: RETRY_AFTER_S,
    })
  })

/** Scores as numbers; without one, the reward that the client gets instead. */
export const numericScores = (results: readonly RewardResult[], rewards: readonly number[]): number[] =>
  results.map(({ score, reward }, index) => (score === null || reward === null ? rewards[index] : score))
