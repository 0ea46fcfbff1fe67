import { expect, it } from 'vitest'
import { chanceOfAdmission, findOnAnchors } from './anchors.ts'

const sides = (good: readonly (number | null)[], bad: readonly (number | null)[]) => [
  ...good.map(gain => ({ good: true, gain })),
  ...bad.map(gain => ({ good: false, gain })),
]

it('tells a criterion that is met by all from one that good answers meet more often', () => {
  const always = findOnAnchors(sides([1, 1, 1, 1, 1], [1, 1, 1, 1, 1]), 0.7)
  expect(always).toEqual({
    agreement: 0.5,
    admitted: false,
    reason: 'anchors: good answers earn 100.0% and bad ones 100.0%, agreement 50.0%, below 70.0%',
  })
  // Never met is as empty.
  expect(findOnAnchors(sides([0, 0], [0, 0]), 0.7)).toMatchObject({ agreement: 0.5, admitted: false })
  // 4 of 5 and 2 of 5: (.8 + .6) / 2, which floats make a little less than .7.
  expect(findOnAnchors(sides([1, 1, 1, 1, 0], [1, 1, 0, 0, 0]), 0.7).admitted).toBe(true)
  expect(findOnAnchors(sides([1, 1, 1, 1, 0], [1, 1, 1, 0, 0]), 0.7).admitted).toBe(false)
  // The wrong way round is worse than nothing.
  expect(findOnAnchors(sides([0, 0], [1, 1]), 0.7).agreement).toBe(0)
})

it('does not weigh the larger side more, and leaves out what nothing was said of', () => {
  // Nine good ones that meet it and one bad one that does too: nine tenths right, and it tells nothing.
  expect(findOnAnchors(sides(Array(9).fill(1), [1]), 0.7).agreement).toBe(0.5)
  expect(findOnAnchors(sides([1, null, 0.5], [0, null]), 0.7).agreement).toBe(0.875)
})

it('keeps out what the judge says nothing of', () => {
  expect(findOnAnchors(sides([null, null], [0, 0]), 0.7)).toEqual({
    ...{ agreement: null, admitted: false },
    reason: 'anchors: the judge says nothing of good answers',
  })
  expect(findOnAnchors(sides([1], []), 0.7).reason).toMatch(/nothing of bad answers/)
})

it.each([
  // Of 2^10 ways that ten coins fall, those with at least 2 (3) more heads among the good: as many as with at least 7 (8) heads.
  [5, 5, 0.7, (120 + 45 + 10 + 1) / 1024],
  [5, 5, 0.8, (45 + 10 + 1) / 1024],
  [5, 5, 1, 1 / 1024],
  [1, 1, 0.7, 1 / 4],
])('admits tosses of a coin on %d + %d answers at %d with chance %d', (good, bad, least, chance) => {
  expect(chanceOfAdmission(good, bad, least)).toBeCloseTo(chance, 12)
})
