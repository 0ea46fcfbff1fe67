import { describe, expect, it } from 'vitest'
import { PREMISES } from './logic-cases.fixture.ts'
import { completenessProxy, keyTerms, premiseUseProxy } from './proxies.ts'

describe('training proxies', () => {
  it('find key terms of sentences and of formulas', () => {
    expect(keyTerms('Every zumpus is not bright.')).toEqual(['zumpus', 'bright'])
    expect(keyTerms('Yumpuses are zumpuses.')).toEqual(['yumpus', 'zumpus'])
    expect(keyTerms('∀x (Cat(x) → Likes(x, rex))')).toEqual(['cat', 'likes', 'rex'])
  })

  it('count a premise as used from half of its terms on', () => {
    const terms = PREMISES.map(keyTerms)
    expect(premiseUseProxy(terms, '1. stella is a zumpus')).toBeCloseTo(4 / 5)
    expect(premiseUseProxy(terms, '')).toBe(0)
    expect(premiseUseProxy([], 'anything')).toBe(0)
  })

  it('measure completeness by steps and words: .6 min(s/3, 1) + .4 min(w/80, 1)', () => {
    expect(completenessProxy(3, 'word '.repeat(80))).toBeCloseTo(1)
    expect(completenessProxy(1, 'word '.repeat(40))).toBeCloseTo(0.4)
    expect(completenessProxy(5, ' \n')).toBe(0)
  })
})
