import { describe, expect, it } from 'vitest'
import { describeCriteria, describeVerdict, pointsWord } from './criterion-words.ts'
import type { RewardedCriterion } from './rows.ts'
import { isCriterionShared, isScoreShared } from './same-rubric.ts'

const short: RewardedCriterion = { id: 'short', text: 'Is short.', points: 2, check: 'rule length' }
const right: RewardedCriterion = { id: 'right', text: null, points: 3, check: null, rows: 4 }
const ruled = (criteria: RewardedCriterion[], sha256: string) => ({ rubric: { criteria, ofRows: 0, sha256 } })

describe('criteria in words', () => {
  const words = describeCriteria({ criterionNames: { short: 'brevity' }, ...ruled([short, right], 'x') })

  it('come from names and the rubric of the run', () => {
    expect(words).toEqual({
      short: { name: 'brevity', text: 'Is short.', points: 2, check: 'rule length' },
      right: { points: 3, check: null },
    })
  })

  it('have names like any others, also those of what every object has', () => {
    const odd = describeCriteria(ruled([{ ...short, id: '__proto__' }], 'x'))
    expect(Object.entries(odd)).toEqual([
      ['__proto__', { text: 'Is short.', points: 2, check: 'rule length' }],
    ])
    expect(describeVerdict({ criterionId: '__proto__' }, odd)).toMatchObject({ text: 'Is short.' })
    expect(describeVerdict({ criterionId: 'points' }, odd)).toEqual({})
  })

  it('are the row’s own where it has some', () => {
    expect(describeVerdict({ criterionId: 'right', text: 'Says Rome.', points: 3 }, words)).toMatchObject({
      text: 'Says Rome.',
    })
    expect(describeVerdict({ criterionId: 'other' }, words)).toEqual({})
    expect([pointsWord(3), pointsWord(-0.5)]).toEqual(['+3', '−0.5'])
  })
})

describe('scores of two rubrics', () => {
  const [a, b] = [ruled([short], 'x'), ruled([{ ...short, points: 9 }, right], 'y')]

  it('do not compare, but for what is by no rubric', () => {
    expect([isScoreShared(a, b, 'rubric'), isScoreShared(a, b, 'greedy.rubric')]).toEqual([false, false])
    expect(isScoreShared(a, b, 'wellFormed')).toBe(true)
    expect([isScoreShared(a, a, 'rubric'), isScoreShared(a, {}, 'rubric')]).toEqual([true, true])
  })

  it('share criteria that ask for the same, whatever they weigh', () => {
    expect(isCriterionShared(a, b, 'short')).toBe(true)
    expect(isCriterionShared(a, ruled([{ ...short, text: 'Is long.' }], 'z'), 'short')).toBe(false)
    expect(isCriterionShared(b, a, 'right')).toBe(false)
    expect(isCriterionShared(b, ruled([right], 'z'), 'right')).toBe(false)
  })
})
