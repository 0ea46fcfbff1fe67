import { describe, expect, it } from 'vitest'
import { perturbRubric } from '../../rubric/perturb.ts'
import { checkRule, validateRules } from './index.ts'

const flip = (seed: string, response: string, probability?: number) =>
  checkRule('coin', { seed, probability }, { prompt: [], response }).met

describe('coin', () => {
  it('falls the same way for the same response, about half of the time each', () => {
    const flips = Array.from({ length: 1000 }, (_, i) => flip('a', `response ${i}`))
    const heads = flips.filter(met => met === true).length
    // Four standard deviations of a fair coin.
    expect(Math.abs(heads - 500)).toBeLessThan(4 * Math.sqrt(250))
    expect(flip('a', 'response 7')).toBe(flips[7])
    expect(flip('a', 'x', 1)).toBe(true)
    expect(flip('a', 'x', 0)).toBe(false)
  })

  it('falls differently for another seed', () => {
    const differ = Array.from({ length: 200 }, (_, i) => flip('a', `${i}`) !== flip('b', `${i}`))
    expect(differ.filter(Boolean).length).toBeGreaterThan(60)
  })

  it('checks the vague criteria of an ambiguous rubric', () => {
    const rubric = { criteria: [{ id: 'a', text: 'Names the cause', points: 2 }] }
    expect(() => validateRules(perturbRubric(rubric, 'ambiguous', 1).rubric, 'rubric')).not.toThrow()
  })
})
