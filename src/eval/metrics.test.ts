import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bestOfN,
  bestOfNCurve,
  bestOfNRescored,
  type LabelledAnswer,
  labelBalance,
  meanPassAtK,
  optimisationTax,
  passAtK,
} from './index.ts'

describe('pass@k', () => {
  it('has the printed values', () => {
    const expected = [0.25, 0.4643, 0.7857, 1]
    for (const [i, k] of [1, 2, 4, 8].entries()) expect(passAtK(8, 2, k)).toBeCloseTo(expected[i], 4)
  })

  it('is 0 with none right, 1 with all right, and averages over problems', () => {
    expect(passAtK(4, 0, 4)).toBe(0)
    expect(passAtK(4, 4, 1)).toBe(1)
    expect(
      meanPassAtK(
        [
          [true, false],
          [false, false, false],
        ],
        1,
      ),
    ).toBe(0.25)
    expect(passAtK(100_000, 1, 50_000)).toBeCloseTo(0.5, 9)
  })

  it('refuses more draws than samples', () => {
    expect(() => passAtK(4, 1, 5)).toThrow('1..4, got 5')
    expect(() => passAtK(4, 5, 1)).toThrow('0..4 correct')
  })
})

describe('best-of-N', () => {
  it('has the printed values in any order of the scores', () => {
    const expected = [0.4, 0.6667, 0.85, 1]
    for (const [i, score] of expected.entries())
      expect(bestOfN([1, 0.2, 0, 0.4], i + 1)).toBeCloseTo(score, 4)
  })

  it('is pass@k for right and wrong', () => {
    const counts = fc
      .integer({ min: 1, max: 40 })
      .chain(n => fc.tuple(fc.constant(n), fc.nat(n), fc.integer({ min: 1, max: n })))
    fc.assert(
      fc.property(counts, ([n, c, k]) => {
        const scores = Array.from({ length: n }, (_, i) => Number(i < c))
        expect(bestOfN(scores, k)).toBeCloseTo(passAtK(n, c, k), 9)
      }),
    )
  })

  it('stands thousands of samples and gives a rising curve', () => {
    const scores = Array.from({ length: 4096 }, (_, i) => i / 4095)
    expect(bestOfN(scores, 2048)).toBeCloseTo((4097 * 2048) / 2049 / 4095 - 1 / 4095, 6)
    const curve = bestOfNCurve(
      [
        [0, 1],
        [0.5, 0.5],
      ],
      [1, 2],
    )
    expect(curve.map(({ n }) => n)).toEqual([1, 2])
    expect(curve[0].score).toBeCloseTo(0.5, 12)
    expect(curve[1].score).toBeCloseTo(0.75, 12)
    expect(() => bestOfN([1], 2)).toThrow('1..1, got 2')
  })
})

describe('best-of-N chosen by one judge and scored by another', () => {
  /** Every draw of `n`, each with every way to break its ties. */
  const byEnumeration = (scores: number[], chosenBy: number[], n: number): number => {
    const drawsOf = (from: number, count: number): number[][] =>
      count === 0
        ? [[]]
        : Array.from({ length: Math.max(0, scores.length - from) }, (_, i) => from + i).flatMap(first =>
            drawsOf(first + 1, count - 1).map(rest => [first, ...rest]),
          )
    const chosen = drawsOf(0, n).map(draw => {
      const most = Math.max(...draw.map(i => chosenBy[i]))
      const first = draw.filter(i => chosenBy[i] === most)
      return first.reduce((sum, i) => sum + scores[i], 0) / first.length
    })
    return chosen.reduce((a, b) => a + b, 0) / chosen.length
  }

  it('is what counting all draws gives, ties or not', () => {
    const judged = fc.array(fc.tuple(fc.integer({ min: -3, max: 3 }), fc.integer({ min: 0, max: 3 })), {
      minLength: 1,
      maxLength: 8,
    })
    fc.assert(
      fc.property(judged, fc.nat(), (pairs, at) => {
        const scores = pairs.map(([score]) => score)
        const chosenBy = pairs.map(([, choice]) => choice)
        const n = 1 + (at % pairs.length)
        expect(bestOfNRescored(scores, chosenBy, n)).toBeCloseTo(byEnumeration(scores, chosenBy, n), 9)
      }),
      { numRuns: 200 },
    )
  })

  it('is best-of-N where the judges agree, and falls where they are opposed', () => {
    const scores = [0, 0.2, 0.4, 1]
    for (const n of [1, 2, 3, 4])
      expect(bestOfNRescored(scores, scores, n)).toBeCloseTo(bestOfN(scores, n), 12)
    const opposed = scores.map(score => -score)
    const curve = bestOfNCurve([scores], [1, 2, 4], [opposed])
    expect(curve.map(({ score }) => score)).toEqual([
      expect.closeTo(0.4, 12),
      expect.closeTo((0 * 3 + 0.2 * 2 + 0.4) / 6, 12),
      expect.closeTo(0, 12),
    ])
    expect(() => bestOfNRescored([1], [1, 2], 1)).toThrow('got 1 and 2')
    expect(() => bestOfNRescored([1], [1], 2)).toThrow('1..1, got 2')
  })

  it('refuses scores that are none, of either judge', () => {
    expect(() => bestOfN([1, Number.NaN], 1)).toThrow('got NaN for sample 1')
    expect(() => bestOfNRescored([1, 2], [Number.NaN, 1], 1)).toThrow('judge that chooses: expected finite')
    expect(() => bestOfNRescored([1, Number.POSITIVE_INFINITY], [1, 2], 1)).toThrow('got Infinity')
  })
})

/** Answers with so many right by label; wrong ones go to the next label, as in a confusion matrix. */
const answersOf = (labels: Record<string, [items: number, right: number]>): LabelledAnswer[] => {
  const names = Object.keys(labels)
  return names.flatMap((gold, i) =>
    Array.from({ length: labels[gold][0] }, (_, item) => ({
      gold,
      predicted: item < labels[gold][1] ? gold : names[(i + 1) % names.length],
    })),
  )
}

describe('labelBalance', () => {
  it("reproduces the paper's rows from its label counts", () => {
    const baseline = labelBalance(answersOf({ True: [75, 36], False: [55, 22], Unknown: [36, 17] }))
    expect(baseline.accuracy).toBeCloseTo(0.452, 3)
    expect(baseline.byLabel.True.accuracy).toBeCloseTo(0.48, 3)
    expect(baseline.byLabel.Unknown.accuracy).toBeCloseTo(0.472, 3)
    expect(baseline.macroRecall).toBeCloseTo((0.48 + 0.4 + 17 / 36) / 3, 12)
    expect(baseline.minClassRecall).toBeCloseTo(0.4, 12)
  })

  it('shows a model that says True to everything', () => {
    const gold = ['True', 'False', 'Unknown', 'False']
    const { trueBias, bias, predicted, minClassRecall } = labelBalance(
      gold.map(g => ({ gold: g, predicted: 'True' })),
    )
    expect(trueBias).toBe(0.75)
    expect(bias.False).toBe(-0.5)
    expect(predicted).toEqual({ True: 1, False: 0, Unknown: 0, none: 0 })
    expect(minClassRecall).toBe(0)
  })

  it('counts unreadable answers as wrong and labels without items as absent', () => {
    const result = labelBalance([
      { gold: 'True', predicted: null },
      { gold: 'True', predicted: 'True' },
    ])
    expect(result.predicted.none).toBe(0.5)
    expect(result.byLabel.Unknown).toEqual({ items: 0, correct: 0, accuracy: null })
    expect(result.macroRecall).toBe(0.5)
    expect(labelBalance([{ gold: 'a', predicted: 'a' }], ['a', 'b']).trueBias).toBeNull()
  })

  it('refuses no answers and stray labels', () => {
    expect(() => labelBalance([])).toThrow('at least one answer')
    expect(() => labelBalance([{ gold: 'Uncertain', predicted: null }])).toThrow('got "Uncertain"')
  })
})

describe('optimisationTax', () => {
  it('is the paired change with its interval', () => {
    const items = Array.from({ length: 40 }, (_, i) => (i % 5) / 5)
    const before = { C4: [items], C5: [items] }
    const after = {
      C4: [items.map(x => x - 0.1), items.map(x => x - 0.06)],
      C5: [items.map((x, i) => x + (i % 2 ? 0.3 : -0.3)), items.map((x, i) => x + (i % 2 ? -0.3 : 0.3))],
    }
    const [c4, c5] = optimisationTax(before, after, { resamples: 500 })
    expect(c4).toMatchObject({ criterion: 'C4', significant: true })
    expect(c4.estimate).toBeCloseTo(-0.08, 12)
    expect(c4.low).toBeCloseTo(-0.1, 9)
    expect(c4.after - c4.before).toBeCloseTo(c4.estimate, 12)
    expect(c5.significant).toBe(false)
  })

  it('is never significant for fewer than six items, though equal changes leave no width', () => {
    const taxOf = (items: number) =>
      optimisationTax(
        { C4: [Array(items).fill(0.9)] },
        { C4: [Array(items).fill(0.1)] },
        { resamples: 50 },
      )[0]
    expect(taxOf(1)).toMatchObject({ significant: false, high: expect.closeTo(-0.8, 12) })
    expect([2, 5, 6].map(items => taxOf(items).significant)).toEqual([false, false, true])
  })

  it('refuses tables that do not pair', () => {
    expect(() => optimisationTax({}, { C4: [[1]] })).toThrow(
      'C4, seed 0: expected 1 items before training, got none',
    )
    expect(() => optimisationTax({ C4: [[1, 2]] }, { C4: [[1]] })).toThrow('got 2')
  })
})
