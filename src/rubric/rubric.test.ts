import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DataError, NumericError } from '../util/errors.ts'
import {
  aggregateScores,
  creditOf,
  maxPoints,
  meanScore,
  minPoints,
  parseRubric,
  type Rubric,
  signedScore,
  type Verdict,
  weightedScore,
} from './index.ts'

const rubricOf = (points: readonly number[]): Rubric => ({
  criteria: points.map((p, i) => ({ id: `c${i}`, text: `criterion ${i}`, points: p })),
})
const verdictsOf = (met: readonly (boolean | null)[]): Verdict[] =>
  met.map((value, i) => ({ criterionId: `c${i}`, met: value, source: 'rule' }))
const graded = (credits: Record<string, number>): Verdict[] =>
  Object.entries(credits).map(([criterionId, credit]) => ({
    criterionId,
    met: null,
    credit,
    source: 'formal',
  }))

describe('parseRubric', () => {
  it('accepts a full criterion and an empty rubric', () => {
    const criterion = {
      id: 'a',
      text: 'mentions X',
      points: -2,
      stage: 4,
      origin: 'self',
      tags: ['t'],
      verifier: { kind: 'rule', fn: 'mentions', params: { word: 'x' } },
    }
    expect(parseRubric({ criteria: [criterion] }).criteria[0]).toEqual(criterion)
    expect(parseRubric({ criteria: [] })).toEqual({ criteria: [] })
  })

  it('says what is wrong, where, and what to do', () => {
    const good = { id: 'a', text: 't', points: 1 }
    expect(() => parseRubric({ criteria: [good, { ...good, id: 'b', points: 0 }] }, 'rubric.yaml')).toThrow(
      'rubric.yaml: criteria[1].points: expected a non-zero number, got 0; a criterion that is worth nothing cannot be scored',
    )
    expect(() => parseRubric({ criteria: [{ ...good, point: 1 }] })).toThrow('did you mean points?')
    expect(() => parseRubric({ criteria: [good, good] })).toThrow('criteria[1].id: expected an id of its own')
    expect(() => parseRubric({ criteria: [{ ...good, stage: 5 }] })).toThrow(
      'stage: expected one of 1, 2, 3, 4, got 5',
    )
    expect(() => parseRubric({ criteria: [{ ...good, points: Number.NaN }] })).toThrow(DataError)
    expect(() => parseRubric(null)).toThrow('rubric: expected an object, got null')
  })

  it('knows the attainable bounds', () => {
    expect(maxPoints(rubricOf([7, 5, 10, -6]))).toBe(22)
    expect(minPoints(rubricOf([7, 5, 10, -6]))).toBe(-6)
  })
})

describe('signedScore', () => {
  it("scores HealthBench's example", () => {
    expect(signedScore(rubricOf([7, 5, 10, -6]), verdictsOf([true, false, true, true])).score).toBe(0.5)
  })

  it('may be negative and is clipped only in the aggregate', () => {
    const { score } = signedScore(rubricOf([2, -6]), verdictsOf([false, true]))
    expect(score).toBe(-3)
    expect(aggregateScores([score, -1]).mean).toBe(0)
    expect(aggregateScores([score, 1, 1, 1, 1, 1]).mean).toBeCloseTo(2 / 6, 12)
  })

  it('is undefined without positive points: null for evaluation, 0 for training', () => {
    const rubric = rubricOf([-2, -3])
    expect(signedScore(rubric, verdictsOf([true, true])).score).toBeNull()
    expect(signedScore(rubric, verdictsOf([true, true]), { whenUndefined: 0 }).score).toBe(0)
    expect(signedScore({ criteria: [] }, [], { whenUndefined: 0 }).score).toBe(0)
  })

  it('drops a failed verdict from both sums, or counts it as not met, and counts failures by sign', () => {
    const rubric = rubricOf([4, 4, -2])
    const verdicts = verdictsOf([true, null, null])
    const dropped = signedScore(rubric, verdicts)
    expect(dropped.score).toBe(1)
    expect(dropped.parts).toEqual({ c0: 1 })
    expect(dropped.nulls).toEqual({ positive: 1, negative: 1 })
    expect(dropped.counts).toEqual({ positive: 2, negative: 1 })
    expect(signedScore(rubric, verdicts, { nulls: 'as-false' }).score).toBe(0.5)
    expect(signedScore(rubric, verdictsOf([null, null, true])).score).toBeNull()
  })

  it('treats a missing verdict as a failed one and refuses strangers and doubles', () => {
    expect(signedScore(rubricOf([1, 1]), verdictsOf([true])).nulls.positive).toBe(1)
    expect(() => signedScore(rubricOf([1]), verdictsOf([true, true]))).toThrow(
      'verdict c1: expected one of c0',
    )
    const twice = [...verdictsOf([true]), ...verdictsOf([false])]
    expect(() => signedScore(rubricOf([1]), twice)).toThrow('got two')
  })

  it('never exceeds 1', () => {
    const points = fc.array(
      fc.integer({ min: -10, max: 10 }).filter(p => p !== 0),
      { minLength: 1, maxLength: 12 },
    )
    fc.assert(
      fc.property(points, fc.infiniteStream(fc.option(fc.boolean())), (p, stream) => {
        const met = p.map(() => stream.next().value as boolean | null)
        const { score } = signedScore(rubricOf(p), verdictsOf(met))
        expect(score ?? 0).toBeLessThanOrEqual(1)
      }),
    )
  })
})

describe('graded credit', () => {
  it('is used instead of met and checked', () => {
    expect(creditOf({ criterionId: 'a', met: false, credit: 0.3, source: 'formal' })).toBe(0.3)
    expect(creditOf({ criterionId: 'a', met: null, source: 'llm' })).toBeNull()
    expect(() => creditOf({ criterionId: 'a', met: true, credit: 1.2, source: 'rule' })).toThrow(NumericError)
    expect(() => creditOf({ criterionId: 'a', met: true, credit: Number.NaN, source: 'rule' })).toThrow(
      'got NaN',
    )
  })
})

describe('weightedScore', () => {
  const weights = { C1: 0.3, C2: 0.25, C3: 0.1, C4: 0.15, C5: 0.2 }
  const logic: Rubric = {
    criteria: Object.entries(weights).map(([id, points]) => ({ id, text: id, points })),
  }
  // Profiles of Table 2 with their totals: outside numbers for the weights.
  const table = {
    Baseline: [[0.452, 0.06, 0.442, 0.616, 0.628], 0.413],
    'Outcome-only': [[0.458, 0.155, 0.777, 0.611, 0.596], 0.465],
    'Z3-verified': [[0.5, 0.348, 0.831, 0.551, 0.547], 0.512],
    'Rubric-verifiable': [[0.518, 0.295, 0.771, 0.575, 0.547], 0.502],
    'Rubric-hybrid': [[0.464, 0.314, 0.787, 0.563, 0.547], 0.49],
  } as const

  it.each(Object.entries(table))('reproduces the total of %s', (_, [profile, total]) => {
    const verdicts = graded(Object.fromEntries(profile.map((credit, i) => [`C${i + 1}`, credit])))
    expect(Math.abs(weightedScore(logic, verdicts).score! - total)).toBeLessThan(0.0011)
    expect(weightedScore(logic, verdicts, { scale: 3 }).score).toBeCloseTo(
      3 * weightedScore(logic, verdicts).score!,
      12,
    )
  })

  it('renormalises over what was judged', () => {
    const partial = graded({ C1: 1, C2: 0.5, C3: 1 })
    expect(weightedScore(logic, partial).score).toBeCloseTo((0.3 + 0.125 + 0.1) / 0.65, 12)
    expect(weightedScore(logic, partial, { nulls: 'as-false' }).score).toBeCloseTo(0.525, 12)
    expect(weightedScore(logic, []).score).toBeNull()
    expect(weightedScore(logic, graded({ C1: 1 }), { weights: { C1: 0 } }).score).toBeNull()
  })
})

describe('meanScore', () => {
  it('counts an avoided flaw as met', () => {
    expect(meanScore(rubricOf([9, 1, -1]), verdictsOf([true, false, false])).score).toBeCloseTo(2 / 3, 12)
    expect(meanScore(rubricOf([9, -1]), verdictsOf([true, null])).score).toBe(1)
    expect(meanScore(rubricOf([9, -1]), verdictsOf([true, null]), { nulls: 'as-false' }).score).toBe(1)
    expect(meanScore(rubricOf([9, 1]), verdictsOf([true, null]), { nulls: 'as-false' }).score).toBe(0.5)
    expect(meanScore(rubricOf([]), []).score).toBeNull()
  })
})

describe('aggregateScores', () => {
  it('skips undefined scores and counts them', () => {
    expect(aggregateScores([0.5, null, 0.7])).toMatchObject({ scored: 2, skipped: 1 })
    expect(aggregateScores([0.5, null, 0.7]).mean).toBeCloseTo(0.6, 12)
    expect(aggregateScores([null])).toEqual({ mean: null, bootstrapStd: 0, scored: 0, skipped: 1 })
    expect(aggregateScores([0, 1, 0, 1]).bootstrapStd).toBeCloseTo(0.25, 1)
  })
})
