import { describe, expect, it } from 'vitest'
import type { Rubric, Verdict } from './criterion.ts'
import { pointShares } from './shares.ts'

const rubric: Rubric = {
  criteria: [
    { id: 'a', text: 'a', points: 6 },
    { id: 'b', text: 'b', points: 2 },
    { id: 'c', text: 'c', points: -4 },
  ],
}
const verdict = (criterionId: string, met: boolean | null): Verdict => ({ criterionId, met, source: 'llm' })
const judged = (a: boolean | null, b: boolean | null, c: boolean | null) => ({
  rubric,
  verdicts: [verdict('a', a), verdict('b', b), verdict('c', c)],
})

describe('point shares', () => {
  it('are parts of what was earned and of what was to be had; penalties are no part of either', () => {
    const shares = pointShares([judged(true, true, true), judged(false, true, false)])
    expect(shares).toEqual({ earned: { a: 0.6, b: 0.4 }, toBeHad: { a: 0.75, b: 0.25 } })
  })

  it('leave out what was not judged, take graded credit, and other weights than the points', () => {
    const half = { rubric, verdicts: [{ ...verdict('a', false), credit: 0.5 }, verdict('b', null)] }
    expect(pointShares([half, judged(null, true, null)])).toEqual({
      earned: { a: 0.6, b: 0.4 },
      toBeHad: { a: 0.75, b: 0.25 },
    })
    expect(pointShares([judged(true, true, true)], { a: 1, b: 3 })?.earned).toEqual({ a: 0.25, b: 0.75 })
    expect(pointShares([judged(true, true, true)], { b: 3 })?.earned).toEqual({ b: 1 })
  })

  it('count criteria of few responses in the totals only, and are null where nothing was earned', () => {
    const own = (i: number) => ({
      rubric: { criteria: [rubric.criteria[0], { id: `own ${i}`, text: '', points: 6 }] },
      verdicts: [verdict('a', true), verdict(`own ${i}`, true)],
    })
    const shares = pointShares(Array.from({ length: 20 }, (_, i) => own(i)))
    expect(shares).toEqual({ earned: { a: 0.5 }, toBeHad: { a: 0.5 } })
    const kinds = Array.from({ length: 20 }, (_, i) => ({ ...own(i), kinds: { [`own ${i}`]: 'own' } }))
    expect(pointShares(kinds)?.earned).toEqual({ a: 0.5, own: 0.5 })
    expect(pointShares([judged(false, false, true)])).toBeNull()
    expect(pointShares([])).toBeNull()
  })
})
