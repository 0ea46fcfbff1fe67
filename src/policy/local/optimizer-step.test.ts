import { describe, expect, it } from 'vitest'
import { NumericError } from '../../util/errors.ts'
import { adamwSettings, assertFiniteNorm, cosinesOf, pieceOf } from './optimizer-step.ts'

describe('pieces of a tensor', () => {
  it.each([1, 2, 3, 7, 64])('cover it in order, once, among %i parts', of => {
    for (const floats of [0, 1, 15, 16, 17, 256, 1000, 65_536, 131_071]) {
      const pieces = Array.from({ length: of }, (_, index) => pieceOf(floats, { index, of }))
      let at = 0
      for (const { start, length } of pieces) {
        expect(start).toBe(at)
        expect(length).toBeGreaterThanOrEqual(0)
        expect(start === floats || start % 16 === 0).toBe(true)
        expect(Math.abs(length - floats / of)).toBeLessThan(32)
        at += length
      }
      expect(at).toBe(floats)
    }
  })
})

describe('angles', () => {
  it('are those of the vectors that parts have pieces of', () => {
    // (3, 4) against (0, 2) and (6, 8), a number a part.
    const parts = [
      { a: { product: 0, squares: 0 }, b: { product: 18, squares: 36 } },
      { a: { product: 8, squares: 4 }, b: { product: 32, squares: 64 } },
    ]
    expect(cosinesOf(parts, 5)).toEqual({ a: 0.8, b: 1 })
    expect(cosinesOf([{ a: { product: 0, squares: 0 } }], 5)).toEqual({ a: null })
    expect(cosinesOf([{}, {}], 5)).toEqual({})
  })
})

describe('settings of a step', () => {
  const optimizer = { learningRate: 0.1, valueLearningRate: 0.3, weightDecay: 0.2, maxGradNorm: 2 }

  it('clip by the global norm, decay matrices, and move the value head by its own rate', () => {
    const settings = adamwSettings(optimizer, { step: 4, norm: 8 })
    const matrix = settings({ isMatrix: true, ofValueHead: false })
    expect(matrix).toMatchObject({ step: 4, lr: 0.1, weightDecay: 0.2, beta1: 0.9, beta2: 0.999, eps: 1e-8 })
    expect(matrix.gradScale).toBeCloseTo(0.25, 6)
    expect(settings({ isMatrix: false, ofValueHead: true })).toMatchObject({ lr: 0.3, weightDecay: 0 })
  })

  it('leave a small gradient as it is, and every one where nothing is clipped', () => {
    const scale = (maxGradNorm: number, norm: number) =>
      adamwSettings({ ...optimizer, maxGradNorm }, { step: 1, norm })({ isMatrix: true, ofValueHead: false })
        .gradScale
    expect(scale(2, 2)).toBe(1)
    expect(scale(0, 1e9)).toBe(1)
    expect(
      adamwSettings({ learningRate: 1 }, { step: 1, norm: 4 })({ isMatrix: true, ofValueHead: true }).lr,
    ).toBe(1)
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('refuse a norm of %d', norm => {
    expect(() => assertFiniteNorm(norm)).toThrow(NumericError)
  })
})
