import { describe, expect, it } from 'vitest'
import { parseWith } from '../../util/schema.ts'
import { PREMISES } from './logic-cases.fixture.ts'
import { completenessProxy, keyTerms, premiseUseProxy } from './proxies.ts'
import { proxySchema } from './settings.ts'

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

  it('go by their settings', () => {
    const terms = PREMISES.map(keyTerms)
    const strict = proxySchema.parse({ termShare: 1 })
    expect(premiseUseProxy(terms, '1. stella is a zumpus', strict)).toBe(0)
    expect(premiseUseProxy(terms, '1. stella is a yumpus', strict)).toBeCloseTo(1 / 5)
    const long = proxySchema.parse({ stepShare: 0.25, fullSteps: 4, fullWords: 10 })
    expect(completenessProxy(2, 'word '.repeat(5), long)).toBeCloseTo(0.25 / 2 + 0.75 / 2)
    expect(completenessProxy(4, 'word', long)).toBeCloseTo(0.25 + 0.075)
  })

  it.each([
    [{ termShare: 0 }, /termShare: expected a number of more than 0, got 0/],
    [{ stepShare: 1.1 }, /stepShare: expected a number of at most 1, got 1\.1/],
    [{ fullWords: 2.5 }, /fullWords: expected an integer/],
    [{ wordShare: 0.4 }, /wordShare: expected one of termShare.*unknown key/],
  ])('%o is refused by name', (settings, message) => {
    expect(() => parseWith(proxySchema, settings, 'proxies')).toThrow(message)
  })
})
