import { describe, expect, it } from 'vitest'
import { std } from '../util/descriptive.ts'
import { mean } from '../util/statistics.ts'
import type { Criterion, Rubric, Verdict } from './criterion.ts'
import {
  leftOutCount,
  leftOutIds,
  leftOutPlaces,
  leftOutShares,
  rubricDropoutSchema,
  withoutCriteria,
} from './dropout.ts'
import { signedScore } from './linear.ts'

const settings = (more: Record<string, unknown> = {}) => rubricDropoutSchema.parse({ rate: 0.5, ...more })
const criterion = (id: string, points: number, more: Partial<Criterion> = {}): Criterion => ({
  id,
  text: id,
  points,
  ...more,
})
const positive = (count: number) => Array.from({ length: count }, (_, i) => criterion(`p${i}`, i + 1))
const RUBRIC: Rubric = { criteria: [...positive(10), criterion('bad', -5), criterion('worse', -8)] }
const at = (step: number, question = 'q', seed: number | string = 1) => ({ seed, step, question })
const idsOf = (rubric: Rubric, ids: ReadonlySet<string>) =>
  rubric.criteria.filter(({ id }) => ids.has(id)).map(({ id }) => id)

describe('how many criteria are left out', () => {
  it.each([
    // rate, positive, free, keepAtLeast: expected
    [0.3, 10, 10, 3, 3],
    [0.5, 10, 10, 3, 5],
    [0.3, 12, 12, 3, 3],
    [0.29, 100, 100, 3, 29],
    [0.5, 7, 7, 3, 3],
    [0.5, 5, 5, 3, 2],
    [0.5, 4, 4, 3, 1],
    [0.9, 10, 10, 3, 7],
    [0.5, 3, 3, 3, 0],
    [0.5, 2, 2, 3, 0],
    [0.5, 3, 3, 1, 1],
    [0.05, 10, 10, 3, 0],
    [0.5, 10, 4, 3, 2],
    [0.5, 0, 0, 3, 0],
  ])('rate %d of %d positive ones, %d free, at least %d stay: %d', (rate, all, free, keepAtLeast, count) => {
    expect(leftOutCount({ rate, keepAtLeast }, all, free)).toBe(count)
  })
})

describe('which criteria are left out', () => {
  it('is the same for seed, step and question, and differs with each of them', () => {
    const own = leftOutIds(RUBRIC, settings(), at(3))
    expect(own.size).toBe(5)
    expect(leftOutIds(RUBRIC, settings(), at(3))).toEqual(own)
    const others = [at(4), at(3, 'other'), at(3, 'q', 2)].map(draw => leftOutIds(RUBRIC, settings(), draw))
    for (const other of others) expect(idsOf(RUBRIC, other)).not.toEqual(idsOf(RUBRIC, own))
  })

  it('stays for all steps with `per: question`', () => {
    const fixed = settings({ per: 'question' })
    const first = leftOutIds(RUBRIC, fixed, at(1))
    for (const step of [2, 3, 40]) expect(leftOutIds(RUBRIC, fixed, at(step))).toEqual(first)
    expect(leftOutIds(RUBRIC, fixed, at(1, 'other'))).not.toEqual(first)
  })

  it('is drawn once, and not by another hand later', () => {
    // A resumed run must leave out what it left out before.
    expect(idsOf(RUBRIC, leftOutIds(RUBRIC, settings(), at(1)))).toMatchInlineSnapshot(`
      [
        "p1",
        "p2",
        "p5",
        "p8",
        "p9",
      ]
    `)
    expect(idsOf(RUBRIC, leftOutIds(RUBRIC, settings({ rate: 0.3 }), at(2)))).toMatchInlineSnapshot(`
      [
        "p2",
        "p3",
        "p5",
      ]
    `)
  })

  it('never holds a penalty, a critical or a protected criterion', () => {
    const rubric: Rubric = {
      criteria: [...positive(6), criterion('safe', 9, { critical: true }), criterion('bad', -5)],
    }
    for (let step = 1; step <= 200; step++) {
      const left = leftOutIds(rubric, settings({ rate: 0.9, keepAtLeast: 1, protect: ['p2'] }), at(step))
      expect(left.size).toBe(4)
      for (const id of ['safe', 'bad', 'p2']) expect(left.has(id)).toBe(false)
    }
  })

  it('takes every free criterion equally often', () => {
    const counts = new Map<string, number>()
    for (let step = 1; step <= 2000; step++)
      for (const id of leftOutIds(RUBRIC, settings(), at(step))) counts.set(id, (counts.get(id) ?? 0) + 1)
    expect(counts.size).toBe(10)
    // Of 2,000 draws a half each; 5 standard deviations are 112.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(112)
  })

  it('goes by place where ids are not unique', () => {
    const twice = [criterion('c1', 3), criterion('c2', 3), criterion('c1', 3), criterion('c2', 3)]
    const places = leftOutPlaces(twice, settings({ keepAtLeast: 2 }), at(1))
    expect(places.size).toBe(2)
  })
})

describe('what is left', () => {
  const verdict = (criterionId: string, met: boolean | null): Verdict => ({ criterionId, met, source: 'llm' })
  const rubric: Rubric = {
    criteria: [criterion('a', 6), criterion('b', 3), criterion('c', 1), criterion('flaw', -5)],
    tree: { id: 'root', weight: 1, children: [] },
  }
  const score = (left: string[], verdicts: Verdict[], nulls: 'drop' | 'as-false' = 'drop') => {
    const ids = new Set(left)
    return signedScore(
      withoutCriteria(rubric, ids),
      verdicts.filter(({ criterionId }) => !ids.has(criterionId)),
      { nulls },
    ).score
  }
  const verdicts = [verdict('a', true), verdict('b', true), verdict('c', false), verdict('flaw', true)]

  it('is divided by its own points; penalties keep theirs', () => {
    expect(score([], verdicts)).toBeCloseTo((6 + 3 - 5) / 10, 12)
    expect(score(['a'], verdicts)).toBeCloseTo((3 - 5) / 4, 12)
    expect(score(['c'], verdicts)).toBeCloseTo((6 + 3 - 5) / 9, 12)
    expect(score(['a', 'c'], verdicts)).toBeCloseTo((3 - 5) / 3, 12)
  })

  it('has no tree', () => {
    expect(withoutCriteria(rubric, new Set(['a']))).toEqual({ criteria: rubric.criteria.slice(1) })
  })

  it('treats a missing verdict as it does without dropout; one on what is left out says nothing', () => {
    const missing = [verdict('a', true), verdict('b', null), verdict('c', true), verdict('flaw', false)]
    expect(score(['a'], missing)).toBeCloseTo(1, 12)
    expect(score(['a'], missing, 'as-false')).toBeCloseTo(1 / 4, 12)
    expect(score(['b'], missing)).toBeCloseTo(1, 12)
    expect(score(['b'], missing, 'as-false')).toBeCloseTo(1, 12)
    expect(score(['a', 'c'], missing)).toBeNull()
  })

  it('whatever it is divided by, a group that shares it has the same advantages', () => {
    const group = [
      [true, true, false, true],
      [false, true, true, false],
      [true, false, true, false],
      [false, false, false, true],
    ].map(met => rubric.criteria.map(({ id }, i) => verdict(id, met[i])))
    const standard = (values: number[]) => values.map(value => (value - mean(values)) / std(values))
    const byKept = group.map(own => score(['a'], own)!)
    const byAll = byKept.map(value => (value * 4) / 10)
    for (const [i, value] of standard(byKept).entries()) expect(standard(byAll)[i]).toBeCloseTo(value, 10)
  })

  it('is told as shares of criteria and of positive points', () => {
    expect(leftOutShares([])).toBeNull()
    const { criteria } = rubric
    expect(leftOutShares([{ criteria, places: new Set([0]) }])).toEqual({ criteria: 1 / 4, points: 6 / 10 })
    expect(
      leftOutShares([
        { criteria, places: new Set([1]) },
        { criteria, places: new Set() },
      ]),
    ).toEqual({ criteria: 1 / 8, points: 3 / 20 })
    expect(leftOutShares([{ criteria: [criterion('flaw', -5)], places: new Set() }])).toEqual({
      criteria: 0,
      points: 0,
    })
  })
})

describe('settings', () => {
  it('have the defaults of the paper and refuse what would leave nothing out, or nothing in', () => {
    expect(rubricDropoutSchema.parse({ rate: 0.3 })).toEqual({
      rate: 0.3,
      per: 'step',
      keepAtLeast: 3,
      protect: [],
      ask: 'all',
    })
    for (const wrong of [
      { rate: 0 },
      { rate: 1 },
      { rate: -0.1 },
      {},
      { rate: 0.3, keepAtLeast: 0 },
      { rate: 0.3, per: 'rollout' },
      { rate: 0.3, share: 1 },
    ])
      expect(rubricDropoutSchema.safeParse(wrong).success).toBe(false)
  })
})
