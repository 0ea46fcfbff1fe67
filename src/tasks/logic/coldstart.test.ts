import { describe, expect, it } from 'vitest'
import { coldStartStream, growingCurriculum, shortProofCurriculum, weightsAt } from './coldstart.ts'
import { decodeTokens } from './format.ts'

describe('cold start', () => {
  it('interpolates weights between knots', () => {
    const curriculum = growingCurriculum()
    expect(weightsAt(curriculum, 0)).toEqual([0.3, 0.4, 0.3, 0, 0])
    expect(weightsAt(curriculum, 0.1)[0]).toBeCloseTo(0.2)
    expect(weightsAt(curriculum, 1)).toEqual([0.05, 0.05, 0.1, 0.2, 0.6])
  })

  it('gives the same example for the same index and progress, and harder ones later', () => {
    const stream = coldStartStream({ curriculum: growingCurriculum(), seed: 3 })
    expect(stream(5, 0.5)).toEqual(coldStartStream({ curriculum: growingCurriculum(), seed: 3 })(5, 0.5))
    const meanLength = (progress: number) => {
      let sum = 0
      for (let i = 0; i < 300; i++) sum += stream(i, progress).responseTokens.length
      return sum / 300
    }
    expect(meanLength(0)).toBeLessThan(35)
    expect(meanLength(1)).toBeGreaterThan(50)
  })

  it('keeps to short proofs when asked to', () => {
    const stream = coldStartStream({ curriculum: shortProofCurriculum(2), seed: 1 })
    for (let i = 0; i < 200; i++) {
      expect(decodeTokens(stream(i, i / 200).responseTokens)).not.toContain('\n6.')
    }
  })

  it('weights the tokens that decide a sign', () => {
    const stream = coldStartStream({ curriculum: growingCurriculum(), seed: 2, signWeight: 3 })
    for (let i = 0; i < 100; i++) {
      const { responseTokens, responseWeights } = stream(i, 0.5)
      const heavy = responseTokens
        .filter((_, t) => responseWeights![t] === 3)
        .map(token => decodeTokens([token]))
      // The settling rule and its consequence.
      expect(heavy).toHaveLength(2)
      for (const word of heavy) expect(word).toMatch(/^ (?!an?$|.*pus$)[a-z]+$/)
    }
  })

  it('refuses curricula that do not fit', () => {
    const sources = [{ hops: 1 }, { hops: 2 }]
    const make = (knots: { at: number; weights: number[] }[]) => () =>
      coldStartStream({ curriculum: { sources, knots }, seed: 0 })
    expect(make([])).toThrow(/knots: expected at least one/)
    expect(make([{ at: 0, weights: [1] }])).toThrow(/knots\[0\]\.weights: expected 2/)
    expect(make([{ at: 0, weights: [0, 0] }])).toThrow(/one above/)
    expect(
      make([
        { at: 0.5, weights: [1, 1] },
        { at: 0.5, weights: [1, 1] },
      ]),
    ).toThrow(/knots\[1\]\.at: expected ascending/)
  })
})
