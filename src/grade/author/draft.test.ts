import { expect, it } from 'vitest'
import { type DraftLimits, draftProblems } from './draft.ts'

const LIMITS: DraftLimits = { minCriteria: 4, maxCriteria: 8, maxPoints: 10 }

const alike = (count: number) => ({
  criteria: Array.from({ length: count }, (_, i) => ({ id: `c${i + 1}`, text: 'Names the goal', points: 0 })),
})

it('of a few criteria too many everything is said, of far too many that alone', () => {
  const few = draftProblems(alike(10), LIMITS)
  expect(few[0]).toBe('expected 4 to 8 criteria, got 10')
  expect(few.length).toBeGreaterThan(10)
  expect(draftProblems(alike(5000), LIMITS)).toEqual(['expected 4 to 8 criteria, got 5000'])
})
