import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ShapeError } from '../util/errors.ts'
import { type AliasedContext, aliasingGap, flatValue, hasCommonMaximiser, stageValue } from './stage-value.ts'

/** Two stages that look the same and want opposite actions. */
const OPPOSED: AliasedContext = {
  weight: 1,
  p_Z: [0.5, 0.5],
  q_Z_A: [
    [1, 0],
    [0, 1],
  ],
}

/** Every policy tried: a table of one action a context, or one a context and stage. */
const bestByTrying = (contexts: readonly AliasedContext[], seesStage: boolean): number => {
  const places = contexts.flatMap(({ p_Z }, c): { c: number; z: number | null }[] =>
    seesStage ? p_Z.map((_, z) => ({ c, z })) : [{ c, z: null }],
  )
  const actions = contexts[0].q_Z_A[0].length
  let best = Number.NEGATIVE_INFINITY
  for (let policy = 0; policy < actions ** places.length; policy++) {
    let value = 0
    for (const [at, { c, z }] of places.entries()) {
      const a = Math.floor(policy / actions ** at) % actions
      const { weight, p_Z, q_Z_A } = contexts[c]
      for (const [own, p] of p_Z.entries()) if (z === null || z === own) value += weight * p * q_Z_A[own][a]
    }
    best = Math.max(best, value)
  }
  return best
}

/** Quarters and eighths: their sums are exact. */
const eighth = fc.integer({ min: -16, max: 16 }).map(n => n / 8)
const halves = fc.constantFrom([1, 0], [0, 1], [0.5, 0.5], [0.25, 0.75])
const contextOf = (actions: number) =>
  fc.record({
    weight: fc.constantFrom(0.25, 0.5, 1),
    p_Z: halves,
    q_Z_A: fc.array(fc.array(eighth, { minLength: actions, maxLength: actions }), {
      minLength: 2,
      maxLength: 2,
    }),
  })
const tables = fc
  .integer({ min: 1, max: 3 })
  .chain(actions => fc.array(contextOf(actions), { minLength: 1, maxLength: 2 }))

describe('Theorem 1: what seeing the stage is worth', () => {
  it('is one half where two stages that look alike want opposite actions', () => {
    expect(stageValue([OPPOSED])).toBe(1)
    expect(flatValue([OPPOSED])).toBe(0.5)
    expect(aliasingGap([OPPOSED])).toBe(0.5)
  })

  it('is the difference of the best policies with and without the stage, exactly', () => {
    fc.assert(
      fc.property(tables, contexts => {
        const seeing = bestByTrying(contexts, true)
        const blind = bestByTrying(contexts, false)
        expect(stageValue(contexts)).toBe(seeing)
        expect(flatValue(contexts)).toBe(blind)
        expect(aliasingGap(contexts)).toBe(seeing - blind)
        expect(seeing).toBeGreaterThanOrEqual(blind)
      }),
      { numRuns: 300 },
    )
  })
})

describe('Theorem 2: it is worth nothing', () => {
  it('just where one action is best in all stages that can be met, exactly zero then', () => {
    fc.assert(
      fc.property(tables, contexts => {
        const all = contexts.every(hasCommonMaximiser)
        expect(aliasingGap(contexts) === 0).toBe(all)
      }),
      { numRuns: 300 },
    )
  })

  it('also where the values are no round numbers: no rounding is left over', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 6, maxLength: 6 }),
        q => {
          const best = Math.max(...q) + 0.1
          const p = [0.1, 0.2, 0.7]
          const q_Z_A = p.map((_, z) => [q[2 * z], best, q[2 * z + 1]])
          expect(hasCommonMaximiser({ weight: 1 / 3, p_Z: p, q_Z_A })).toBe(true)
          expect(aliasingGap([{ weight: 1 / 3, p_Z: p, q_Z_A }])).toBe(0)
        },
      ),
    )
  })

  it('whatever a stage wants that never comes', () => {
    const never = { ...OPPOSED, p_Z: [1, 0] }
    expect(hasCommonMaximiser(never)).toBe(true)
    expect(aliasingGap([never])).toBe(0)
    expect(hasCommonMaximiser(OPPOSED)).toBe(false)
  })
})

it('tables that do not fit are refused', () => {
  expect(() => stageValue([{ weight: 1, p_Z: [1], q_Z_A: [] }])).toThrow(ShapeError)
  expect(() => aliasingGap([{ ...OPPOSED, q_Z_A: [[1, 2], [1]] }])).toThrow(ShapeError)
  expect(() => flatValue([{ ...OPPOSED, p_Z: [1] }])).toThrow(/each of 1 stages, got rows of 2, 2/)
})
