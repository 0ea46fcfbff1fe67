import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DataError } from '../util/errors.ts'
import { maxPoints, parseRubric, type Rubric } from './criterion.ts'
import { lintRubric } from './lint.ts'
import { perturbRubric, VARIANTS, type Variant } from './perturb.ts'

const rubricOf = (points: readonly number[]): Rubric => ({
  id: 'r',
  criteria: points.map((p, i) => ({ id: `c${i}`, text: `Names thing number ${i}`, points: p })),
})
const pointsOf = ({ criteria }: Rubric) => criteria.map(({ points }) => points)
const byValue = (a: number, b: number) => a - b

const anyPoints = fc.array(
  fc.integer({ min: -10, max: 10 }).filter(p => p !== 0),
  { minLength: 1, maxLength: 15 },
)
const names = Object.keys(VARIANTS) as Variant[]

describe('perturbRubric', () => {
  it('has six variants, each a rubric again, the same for the same seed', () => {
    expect(names).toHaveLength(6)
    fc.assert(
      fc.property(anyPoints, fc.constantFrom(...names), fc.integer(), (points, variant, seed) => {
        const rubric = rubricOf(points)
        const before = structuredClone(rubric)
        const result = perturbRubric(rubric, variant, seed)
        expect(rubric).toEqual(before)
        expect(parseRubric(structuredClone(result.rubric))).toEqual(result.rubric)
        expect(perturbRubric(rubric, variant, seed)).toEqual(result)
        expect(result.attainablePoints).toBeGreaterThan(0)
      }),
    )
  })

  it('original changes nothing', () => {
    expect(perturbRubric(rubricOf([3, -2]), 'original')).toEqual({
      rubric: rubricOf([3, -2]),
      variant: 'original',
      changedIds: [],
      addedIds: [],
      removedIds: [],
      attainablePoints: 3,
    })
  })

  it('inverse keeps the multiset of points and turns their order round', () => {
    expect(pointsOf(perturbRubric(rubricOf([10, -6, 3, 5]), 'inverse').rubric)).toEqual([-6, 10, 5, 3])
    fc.assert(
      fc.property(anyPoints, points => {
        const turned = pointsOf(perturbRubric(rubricOf(points), 'inverse').rubric)
        expect([...turned].sort(byValue)).toEqual([...points].sort(byValue))
        for (const [i, p] of points.entries())
          for (const [j, q] of points.entries())
            if (p < q) expect(turned[i]).toBeGreaterThanOrEqual(turned[j])
      }),
    )
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { minLength: 1 }), points => {
        const twice = perturbRubric(perturbRubric(rubricOf(points), 'inverse').rubric, 'inverse')
        expect(pointsOf(twice.rubric)).toEqual(points)
      }),
    )
  })

  it('negated turns every sign round, and leaves something to divide by', () => {
    const { rubric, attainablePoints, changedIds } = perturbRubric(rubricOf([4, 3]), 'negated')
    expect(pointsOf(rubric)).toEqual([-4, -3])
    expect(attainablePoints).toBe(7)
    expect(changedIds).toEqual(['c0', 'c1'])
    expect(perturbRubric(rubricOf([4, -3]), 'negated').attainablePoints).toBe(3)
  })

  it('ambiguous adds ceil(0.3 n) coin flips with points of the positive ones', () => {
    fc.assert(
      fc.property(anyPoints, fc.integer(), (points, seed) => {
        const { rubric, addedIds, removedIds } = perturbRubric(rubricOf(points), 'ambiguous', seed)
        const more = rubric.criteria.slice(points.length)
        const positive = points.filter(p => p > 0)
        expect(more).toHaveLength(Math.ceil(0.3 * points.length))
        expect(more.map(({ id }) => id)).toEqual(addedIds)
        expect(removedIds).toEqual([])
        for (const { points: p, verifier } of more) {
          expect(positive.length === 0 || positive.includes(p)).toBe(true)
          expect(verifier).toMatchObject({ kind: 'rule', fn: 'coin' })
        }
        expect(new Set(more.map(({ verifier }) => verifier!.params!.seed)).size).toBe(more.length)
      }),
    )
    const judged = perturbRubric(rubricOf([1, 2, 3, 4]), 'ambiguous', 1, { vague: 'judged' })
    const found = lintRubric(judged.rubric).map(({ criterionIds }) => criterionIds[0])
    expect(judged.rubric.criteria[4].verifier).toBeUndefined()
    expect(judged.addedIds).toHaveLength(2)
    expect(found).toEqual(expect.arrayContaining(judged.addedIds))
  })

  it('contradictory adds denials that the linter finds', () => {
    fc.assert(
      fc.property(anyPoints, fc.integer(), (points, seed) => {
        const rubric = rubricOf(points)
        const result = perturbRubric(rubric, 'contradictory', seed)
        expect(result.addedIds).toHaveLength(Math.ceil(0.3 * points.length))
        for (const id of result.addedIds) {
          const denial = result.rubric.criteria.find(c => c.id === id)!
          const source = rubric.criteria.find(c => `${c.id}-denied` === id)!
          expect(denial.points).toBe(source.points)
          expect(denial.text).toContain(source.text)
        }
        const conflicts = lintRubric(result.rubric).filter(({ rule }) => rule === 'contradictory')
        expect(conflicts.map(({ criterionIds }) => criterionIds[1])).toEqual(
          expect.arrayContaining(result.addedIds),
        )
      }),
      { numRuns: 30 },
    )
    const checked: Rubric = {
      criteria: [
        { id: 'a', text: 'short', points: 1, verifier: { kind: 'rule', fn: 'length', params: { max: 9 } } },
      ],
    }
    const denied = perturbRubric(checked, 'contradictory').rubric.criteria[1]
    expect(denied.verifier).toEqual({ kind: 'rule', fn: 'length', params: { max: 9, negate: true } })
  })

  it('removed deletes half and keeps something that earns points', () => {
    fc.assert(
      fc.property(anyPoints, fc.integer(), (points, seed) => {
        const { rubric, removedIds } = perturbRubric(rubricOf(points), 'removed', seed)
        expect(removedIds).toHaveLength(Math.floor(points.length / 2))
        expect(rubric.criteria).toHaveLength(points.length - removedIds.length)
        if (points.some(p => p > 0)) expect(maxPoints(rubric)).toBeGreaterThan(0)
        const order = rubric.criteria.map(({ id }) => Number(id.slice(1)))
        expect(order).toEqual([...order].sort(byValue))
      }),
    )
    const kept = new Set(
      Array.from({ length: 40 }, (_, seed) =>
        perturbRubric(rubricOf([1, 2, 3, 4]), 'removed', seed)
          .rubric.criteria.map(({ id }) => id)
          .join(),
      ),
    )
    expect(kept.size).toBe(6)
  })

  it('refuses trees', () => {
    const tree = { id: 'root', weight: 1, children: [{ id: 'c0', weight: 1 }] }
    expect(() => perturbRubric({ ...rubricOf([1]), tree }, 'inverse')).toThrow(DataError)
    expect(perturbRubric({ ...rubricOf([1]), tree }, 'original').rubric.tree).toEqual(tree)
  })
})
