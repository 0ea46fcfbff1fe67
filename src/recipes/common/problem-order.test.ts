import { describe, expect, it } from 'vitest'
import { easyToHard } from './problem-order.ts'

describe('from easy to hard', () => {
  const order = (scores: Record<string, number | null>) =>
    easyToHard(Object.keys(scores), name => scores[name]).join('')

  it('goes by the scores', () => {
    expect(order({ a: 0.1, b: 0.9, c: 0.5 })).toBe('bca')
  })

  it('a problem that nobody could judge is not the hardest: it stands where an average one would', () => {
    expect(order({ a: 0.1, b: 0.9, unknown: null, c: 0.2 })).toBe('bunknownca')
    expect(order({ unknown: null, a: 0, b: 1 })).toBe('bunknowna')
  })

  it('without any score there is none', () => {
    expect(() => order({ a: null, b: null })).toThrow('curriculum: expected scores of 2 problems, got none')
  })
})
