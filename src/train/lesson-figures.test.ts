import { expect, it } from 'vitest'
import { partMeans, rewardFigures } from './lesson-figures.ts'

const groups = [
  [
    { reward: 1, parts: { right: 1, asked: 1 } },
    { reward: 0, parts: { right: 0, asked: null } },
  ],
  [{ reward: null, parts: { asked: 0, other: null } }],
]

it('means leave out what is not known', () => {
  expect(rewardFigures(groups)).toEqual({ reward: 0.5, rewardStd: 0.5 })
  expect(partMeans(groups)).toEqual({ right: 0.5, asked: 0.5 })
})

it('has no figures of nothing', () => {
  expect(rewardFigures([])).toEqual({ reward: null, rewardStd: null })
  expect(partMeans([[]])).toEqual({})
})
