import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fuse, GATES, gated, meanSatisfaction } from './fusion.ts'

const unit = fc.double({ min: 0, max: 1, noNaN: true })
const final = (thinking: number, response: number, alpha: number, gate: (typeof GATES)[number] = 'min') =>
  fuse(thinking, response, { alpha, gate }).reward!

describe('the min gate', () => {
  it.each([
    [0.6, 1, 0.5, 0.8],
    [0.6, 1, 1, 0.6],
    [0.9, 0.5, 0.5, 0.5],
    [0.2, 0.5, 0.5, 0.35],
    [1, 0, 1, 0],
  ])('T %d, R %d, alpha %d is %d', (thinking, response, alpha, expected) => {
    expect(final(thinking, response, alpha)).toBeCloseTo(expected, 12)
  })

  it('only subtracts: R - alpha max(R - T, 0)', () => {
    fc.assert(
      fc.property(unit, unit, unit, (t, r, alpha) => {
        expect(final(t, r, alpha)).toBeCloseTo(r - alpha * Math.max(r - t, 0), 12)
        expect(final(t, r, alpha)).toBeLessThanOrEqual(r)
      }),
    )
  })

  it('is the weaker of the two where alpha is 1', () => {
    fc.assert(
      fc.property(unit, unit, (t, r) => {
        expect(final(t, r, 1)).toBeCloseTo(Math.min(t, r), 12)
      }),
    )
  })
})

describe('gates', () => {
  it('conditional and min are one function where responses are right or wrong, and two elsewhere', () => {
    fc.assert(
      fc.property(unit, fc.constantFrom(0, 1), unit, (t, r, alpha) => {
        expect(final(t, r, alpha, 'conditional')).toBeCloseTo(final(t, r, alpha, 'min'), 12)
      }),
    )
    expect(final(0.2, 0.5, 0.5, 'conditional')).toBe(0.5)
    expect(final(0.2, 0.5, 0.5, 'min')).toBeCloseTo(0.35, 12)
  })

  it('none is the weighted mean, max never below the response', () => {
    expect(final(0.9, 0.5, 0.25, 'none')).toBeCloseTo(0.6, 12)
    expect(final(0.9, 0.5, 0.25, 'max')).toBeCloseTo(0.6, 12)
    expect(final(0.1, 0.5, 0.25, 'max')).toBe(0.5)
  })

  it('are all the weighted mean with thinking as the gate leaves it', () => {
    fc.assert(
      fc.property(
        unit,
        fc.oneof(unit, fc.constantFrom(0, 1)),
        unit,
        fc.constantFrom(...GATES),
        (t, r, alpha, gate) => {
          const left = gated(gate, t, r)
          expect(alpha * left + (1 - alpha) * r).toBeCloseTo(gated(gate, alpha * t + (1 - alpha) * r, r), 12)
        },
      ),
    )
  })

  it('say when they bit', () => {
    expect(fuse(0.9, 0.5, { alpha: 0.5, gate: 'min' }).bit).toBe(true)
    expect(fuse(0.2, 0.5, { alpha: 0.5, gate: 'min' }).bit).toBe(false)
    expect(fuse(0.1, 0.1, { alpha: 0.3, gate: 'min' }).bit).toBe(false)
    expect(fuse(0.2, 0.5, { alpha: 0.5, gate: 'conditional' }).bit).toBe(true)
    expect(fuse(0.9, 0.5, { alpha: 0.5, gate: 'none' }).bit).toBe(false)
  })
})

describe('what cannot be fused', () => {
  it('falls back on the response where there are no criteria', () => {
    expect(meanSatisfaction([])).toBe('none')
    expect(fuse('none', 0.7, { alpha: 1, gate: 'min' })).toEqual({
      fused: 0.7,
      reward: 0.7,
      bit: false,
      fellBack: true,
    })
  })

  it('drops verdicts that nobody gave, or counts them as unmet', () => {
    expect(meanSatisfaction([1, null, 0.5])).toBe(0.75)
    expect(meanSatisfaction([1, null, 0.5], 'as-false')).toBe(0.5)
    expect(meanSatisfaction([null, null])).toBeNull()
    expect(meanSatisfaction([null, null], 'as-false')).toBe(0)
  })

  it('knows nothing where thinking or response is unknown', () => {
    expect(fuse(null, 1, { alpha: 0.5, gate: 'min' })).toMatchObject({ reward: null, fellBack: false })
    expect(fuse(1, null, { alpha: 0.5, gate: 'min' }).reward).toBeNull()
    expect(fuse('none', null, { alpha: 0.5, gate: 'min' }).reward).toBeNull()
  })

  it('needs no response where thinking alone is paid, and no thinking where the response is', () => {
    const all = { fused: 0.7, reward: 0.7, bit: false, fellBack: false }
    for (const gate of GATES) expect(fuse(null, 0.7, { alpha: 0, gate })).toEqual(all)
    expect(fuse(0.7, null, { alpha: 1, gate: 'none' })).toEqual(all)
    expect(fuse(0.7, null, { alpha: 1, gate: 'min' }).reward).toBeNull()
    expect(fuse(0.7, null, { alpha: 0.9, gate: 'none' }).reward).toBeNull()
    expect(fuse(null, 1, { alpha: 1, gate: 'none' }).reward).toBeNull()
  })

  it('refuses a weight outside 0 to 1', () => {
    expect(() => fuse(1, 1, { alpha: 1.5, gate: 'min' })).toThrow('expected a weight from 0 to 1, got 1.5')
    expect(() => fuse(1, 1, { alpha: Number.NaN, gate: 'min' })).toThrow('got NaN')
  })
})
