import { expect, it } from 'vitest'
import { controlledRewards } from './attempts.ts'

const rewards = [
  [0, 0.25, null, 1],
  [0.5, 0.75, 0.5, 0],
  [1, 0, 1, 0.5],
  [null, null, null, 0.25],
]

it('turns rewards round, and leaves what is unknown', () => {
  expect(controlledRewards(rewards, 'flipped', 'k')[0]).toEqual([1, 0.75, null, 0])
  expect(controlledRewards(rewards, 'random', 'k').map(own => own.map(reward => reward === null))).toEqual(
    rewards.map(own => own.map(reward => reward === null)),
  )
})

it('gives attempts the rewards of others, each whole, and draws by the key alone', () => {
  const shuffled = controlledRewards(rewards, 'shuffled', 'k')
  expect(new Set(shuffled.map(own => own.join()))).toEqual(new Set(rewards.map(own => own.join())))
  const orders = ['a', 'b', 'c', 'd', 'e'].map(key => controlledRewards(rewards, 'shuffled', key).join(';'))
  expect(new Set(orders).size).toBeGreaterThan(1)
  expect(controlledRewards(rewards, 'random', 'k')).toEqual(controlledRewards(rewards, 'random', 'k'))
  expect(controlledRewards(rewards, 'random', 'l')).not.toEqual(controlledRewards(rewards, 'random', 'k'))
})
