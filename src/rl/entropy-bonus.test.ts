import { describe, expect, it } from 'vitest'
import { NumericError, ShapeError } from '../util/errors.ts'
import { withEntropyBonus } from './entropy-bonus.ts'

describe('withEntropyBonus', () => {
  it('adds kappa1 of the entropy, at most the advantage over kappa2, and nothing to nothing', () => {
    // 1 + min(.4 x 1, 1/2) ; 1 + min(.4 x 3, 1/2) ; -1 + min(.4 x .5, 1/2) ; -2 + min(.4 x 9, 1) ; 0
    const bonus = withEntropyBonus(Float32Array.of(1, 1, -1, -2, 0), Float32Array.of(1, 3, 0.5, 9, 5))
    expect([...bonus].map(x => Number(x.toFixed(6)))).toEqual([1.4, 1.5, -0.8, -1, 0])
  })

  it('takes other constants', () => {
    const bonus = withEntropyBonus(Float32Array.of(1), Float32Array.of(1), { kappa1: 0.1, kappa2: 4 })
    expect(bonus[0]).toBeCloseTo(1.1, 6)
  })

  it('refuses entropies of other tokens, and those that are not numbers', () => {
    expect(() => withEntropyBonus(Float32Array.of(1), Float32Array.of(1, 2))).toThrow(ShapeError)
    expect(() => withEntropyBonus(Float32Array.of(1), Float32Array.of(Number.NaN))).toThrow(NumericError)
  })
})
