import { describe, expect, it } from 'vitest'
import type { EvalRow } from '../../runs/rows.ts'
import { taxBetween, withTax } from './evaluation.ts'

/** An evaluation with the given scores of C2 and C4, problem by problem. */
const rowOf = (step: number, C2: readonly number[], C4: readonly (number | null)[]): EvalRow => ({
  step,
  set: 'real',
  n: C2.length,
  scores: { accuracy: { value: 0 } },
  primary: 'accuracy',
  criteria: { C2: 0, C4: 0 },
  items: C2.map((score, i) => ({ id: `p${i}`, scores: {}, criteria: { C2: score, C4: C4[i] } })),
})

const forty = (score: (i: number) => number) => Array.from({ length: 40 }, (_, i) => score(i))
const start = rowOf(
  0,
  forty(i => (i % 5) / 10),
  forty(i => 0.5 + (i % 5) / 10),
)
const end = rowOf(
  9,
  forty(i => (i % 5) / 10 + 0.4),
  forty(i => 0.5 + (i % 5) / 10 - 0.1 - 0.1 * (i % 2)),
)

describe('taxBetween', () => {
  it('pairs problem by problem: a shift without noise has no width', () => {
    const { C2, C4 } = taxBetween(start, end)!
    expect(C2.change).toBeCloseTo(0.4, 12)
    expect(C2.interval[0]).toBeCloseTo(0.4, 9)
    expect(C2.interval[1]).toBeCloseTo(0.4, 9)
    expect(C2).toMatchObject({ n: 40 })
    expect(C2.unseen).toBeUndefined()
    expect(C4).toMatchObject({ n: 40, unseen: true })
    expect(C4.change).toBeCloseTo(-0.15, 12)
    expect(C4.after - C4.before).toBeCloseTo(C4.change, 12)
    // Half of the problems lose .1, half .2: the standard error is .05 / sqrt(40).
    expect(C4.interval[0]).toBeCloseTo(-0.15 - (1.96 * 0.05) / Math.sqrt(40), 2)
    expect(C4.interval[1]).toBeLessThan(0)
  })

  it('leaves out problems without a score in one of the two', () => {
    const some = rowOf(
      9,
      forty(() => 1),
      forty(i => (i < 10 ? null! : 0.5)),
    )
    expect(taxBetween(start, some)!.C4.n).toBe(30)
    const none = { ...end, items: end.items!.map(item => ({ ...item, id: `other ${item.id}` })) }
    expect(taxBetween(start, none)).toBeNull()
  })
})

describe('withTax', () => {
  it("compares with the run's own start on the same set", () => {
    const other = { ...start, set: 'shortcut-free' }
    const [row] = withTax([end], [other, start, { ...end, step: 5 }])
    expect(row.tax?.C4.change).toBeCloseTo(-0.15, 12)
    expect(withTax([end], [other])).toEqual([end])
    expect(withTax([start], [start])).toEqual([start])
  })
})
