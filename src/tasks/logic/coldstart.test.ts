import { describe, expect, it } from 'vitest'
import { coldStartStream, growingCurriculum, shortProofCurriculum, weightsAt } from './coldstart.ts'
import { decodeTokens } from './format.ts'
import { LONG_LOGIC_VOCABULARY } from './vocabulary.ts'

describe('cold start', () => {
  it('interpolates weights between keyframes', () => {
    const curriculum = growingCurriculum()
    expect(weightsAt(curriculum, 0)).toEqual([2, 1, 0, 0, 0, 0])
    expect(weightsAt(curriculum, 0.125)[0]).toBeCloseTo(1.15)
    expect(weightsAt(curriculum, 1)).toEqual([0, 0, 0, 0.1, 0.2, 2])
  })

  it('gives the same example for the same index and progress, and harder ones later', () => {
    const stream = coldStartStream({ curriculum: growingCurriculum(), seed: 3 })
    expect(stream(5, 0.5)).toEqual(coldStartStream({ curriculum: growingCurriculum(), seed: 3 })(5, 0.5))
    const meanLength = (progress: number) => {
      let sum = 0
      for (let i = 0; i < 300; i++) sum += stream(i, progress).responseTokens.length
      return sum / 300
    }
    expect(meanLength(0)).toBeLessThan(50)
    expect(meanLength(1)).toBeGreaterThan(60)
  })

  it('keeps to short proofs when asked to', () => {
    const stream = coldStartStream({ curriculum: shortProofCurriculum(2), seed: 1 })
    for (let i = 0; i < 200; i++) {
      expect(decodeTokens(stream(i, i / 200).responseTokens)).not.toContain('\n6.')
    }
  })

  it('numbers half of the demonstrations from a random start, in order and never beyond a five-hop proof', () => {
    const stream = coldStartStream({
      curriculum: shortProofCurriculum(2),
      seed: 1,
      numbering: 'random-start',
    })
    const starts = Array.from({ length: 300 }, (_, i) => {
      const numbers = [...decodeTokens(stream(i, 0.5).responseTokens).matchAll(/\n(\d+)\. /g)].map(m =>
        Number(m[1]),
      )
      numbers.forEach((number, k) => {
        expect(number).toBe(numbers[0] + k)
      })
      expect(numbers.at(-1)).toBeLessThanOrEqual(11)
      return numbers[0]
    })
    const fromOne = starts.filter(start => start === 1).length / starts.length
    expect(fromOne).toBeGreaterThan(0.45)
    expect(fromOne).toBeLessThan(0.7)
    expect(Math.max(...starts)).toBeGreaterThan(5)
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

  it('weights the joints that decide a sign where phrases are one token', () => {
    const stream = coldStartStream({
      curriculum: growingCurriculum(),
      seed: 2,
      signWeight: 3,
      vocabulary: LONG_LOGIC_VOCABULARY.length,
    })
    for (let i = 0; i < 100; i++) {
      const { responseTokens, responseWeights } = stream(i, 0.5)
      const heavy = responseTokens
        .filter((_, t) => responseWeights![t] === 3)
        .map(token => decodeTokens([token]))
      expect(heavy).toHaveLength(2)
      for (const joint of heavy) expect(joint).toMatch(/^( is|es are)( not)?$/)
    }
  })

  it('refuses curricula that do not fit', () => {
    const sources = [{ hops: 1 }, { hops: 2 }]
    const make = (keyframes: { at: number; weights: number[] }[]) => () =>
      coldStartStream({ curriculum: { sources, keyframes }, seed: 0 })
    expect(make([])).toThrow(/keyframes: expected at least one/)
    expect(make([{ at: 0, weights: [1] }])).toThrow(/keyframes\[0\]\.weights: expected 2/)
    expect(make([{ at: 0, weights: [0, 0] }])).toThrow(/one above/)
    expect(
      make([
        { at: 0.5, weights: [1, 1] },
        { at: 0.5, weights: [1, 1] },
      ]),
    ).toThrow(/keyframes\[1\]\.at: expected ascending/)
  })
})
