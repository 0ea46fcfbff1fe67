import { expect, it } from 'vitest'
import { controlled } from './control.ts'

const rewards = [
  [0, 0.25, null, 1],
  [0.5, 0.75, 0.5, 0],
  [1, 0, 1, 0.5],
  [null, null, null, 0.25],
]

it('turns rewards round, and leaves what is unknown', () => {
  expect(controlled(rewards, 'flipped', 'k')[0]).toEqual([1, 0.75, null, 0])
  expect(controlled(rewards, 'random', 'k').map(own => own.map(reward => reward === null))).toEqual(
    rewards.map(own => own.map(reward => reward === null)),
  )
})

it('gives attempts the rewards of others, each whole, and draws by the key alone', () => {
  const shuffled = controlled(rewards, 'shuffled', 'k')
  expect(new Set(shuffled.map(own => own.join()))).toEqual(new Set(rewards.map(own => own.join())))
  const orders = ['a', 'b', 'c', 'd', 'e'].map(key => controlled(rewards, 'shuffled', key).join(';'))
  expect(new Set(orders).size).toBeGreaterThan(1)
  expect(controlled(rewards, 'random', 'k')).toEqual(controlled(rewards, 'random', 'k'))
  expect(controlled(rewards, 'random', 'l')).not.toEqual(controlled(rewards, 'random', 'k'))
})
