/** @file Negative controls of stage rewards: drawn at random, those of other attempts at the question, or inverted. */

import { Rng } from '../../util/rng.ts'

export const CONTROLS = ['random', 'shuffled', 'flipped'] as const
export type StageControl = (typeof CONTROLS)[number]

type StageRewards = readonly (number | null)[]

/**
 * Rewards of the attempts at one question in place of what the judge gave, by rollout and stage in [0, 1]; what is unknown stays so
 * but for shuffled ones, which change places whole. Depends on the key alone.
 */
export const controlledRewards = (
  rewards_G_K: readonly StageRewards[],
  control: StageControl,
  key: string,
): (number | null)[][] => {
  const rng = new Rng(`${control} rewards/${key}`)
  switch (control) {
    case 'shuffled':
      return rng.shuffle(rewards_G_K.map(own => [...own]))
    case 'flipped':
      return rewards_G_K.map(own => own.map(reward => (reward === null ? null : 1 - reward)))
    case 'random':
      return rewards_G_K.map(own => own.map(reward => (reward === null ? null : rng.next())))
  }
}
