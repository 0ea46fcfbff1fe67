import { expect, it } from 'vitest'
import { keptRollouts } from './lesson-rows.ts'

const kept = (step: number, rewards: readonly (number | null)[]) =>
  keptRollouts(
    step,
    rewards.map((reward, i) => ({ reward, i })),
  ).map(({ i }) => i)

it('keeps the best, the worst and one that changes with the step', () => {
  expect(kept(4, [0.5, 0.9, null, 0.1])).toEqual([1, 3, 0])
  expect(kept(6, [0.5, 0.9, null, 0.1])).toEqual([1, 3, 2])
})

it('keeps each once, also where nothing is known of any', () => {
  expect(kept(1, [0.5, 0.9, null, 0.1])).toEqual([1, 3])
  expect(kept(3, [null, null])).toEqual([1])
  expect(kept(7, [1])).toEqual([0])
  expect(kept(1, [])).toEqual([])
})
