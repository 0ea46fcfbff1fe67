import { expect, it } from 'vitest'
import { keptRollouts } from './kept-rollouts.ts'

const REWARDS = [
  [0.5, 0.9],
  [null, 0.1],
]

it('keeps the best, the worst and one that changes with the step', () => {
  expect(keptRollouts(4, REWARDS)).toEqual([
    { p: 0, g: 1 },
    { p: 1, g: 1 },
    { p: 0, g: 0 },
  ])
  expect(keptRollouts(6, REWARDS)[2]).toEqual({ p: 1, g: 0 })
})

it('keeps each once, also where nothing is known of any', () => {
  expect(keptRollouts(1, REWARDS)).toHaveLength(2)
  expect(keptRollouts(3, [[null, null]])).toEqual([{ p: 0, g: 1 }])
  expect(keptRollouts(7, [[1]])).toEqual([{ p: 0, g: 0 }])
})
