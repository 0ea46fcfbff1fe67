import { expect, it } from 'vitest'
import { configHash, keptSteps } from './run-state.ts'

it('hashes settings whatever their order, but for those that are free', () => {
  const hash = configHash({ a: 1, b: { c: 2, d: [3] } }, ['out'])
  expect(configHash({ b: { d: [3], c: 2 }, a: 1, out: '/elsewhere' }, ['out'])).toBe(hash)
  expect(configHash({ a: 1, b: { c: 2, d: [4] } }, ['out'])).not.toBe(hash)
  expect(configHash({ a: 1, b: { c: 2, d: [3] }, out: '/elsewhere' }, [])).not.toBe(hash)
  // Checkpoints hold it: another value would refuse every run that was begun before.
  expect(hash).toBe('cfd0a7398202c854')
})

it('keeps the newest two at least, every k-th, the pinned checkpoint and those after it', () => {
  const steps = [0, 10, 20, 30, 40, 50]
  expect(keptSteps(steps, { keepLast: 1, keepEvery: 20, pinned: 50 })).toEqual([20, 40, 50])
  expect(keptSteps(steps, { keepLast: 3, pinned: 50 })).toEqual([30, 40, 50])
  expect(keptSteps([10, 20, 30], { keepLast: 0 })).toEqual([20, 30])
  // To go back to: the newest two at or before step 25, what comes after them, and the start.
  expect(keptSteps(steps, { keepLast: 2, pinned: 50, backing: { through: 25, every: 10 } })).toEqual(steps)
  const more = [0, 10, 20, 30, 33, 40, 44, 50, 55]
  expect(keptSteps(more, { keepLast: 2, pinned: 55, backing: { through: 35, every: 10 } })).toEqual([
    ...[0, 20, 30, 40, 50, 55],
  ])
  // 40 and 50 are of a course that was given up for 30: they neither count nor go.
  expect(keptSteps(steps, { keepLast: 2, pinned: 30 })).toEqual([20, 30, 40, 50])
})
