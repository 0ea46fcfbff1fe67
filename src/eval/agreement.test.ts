import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DataError } from '../util/errors.ts'
import {
  agreementInterval,
  cohenKappa,
  cohenKappaOfRows,
  fleissKappa,
  kendallW,
  midranks,
  percentAgreement,
} from './agreement.ts'

/** Rows of counts a category, as papers print them, as rows of single ratings. */
const fromCounts = (text: string): number[][] =>
  text
    .trim()
    .split('\n')
    .map(line =>
      line
        .trim()
        .split(' ')
        .flatMap((count, category) => new Array<number>(Number(count)).fill(category)),
    )

/** Fleiss 1971, table 1: six psychiatrists' diagnoses of thirty patients (the data set `diagnoses` of R's irr). */
const DIAGNOSES = fromCounts(`
  0 0 0 6 0
  0 3 0 0 3
  0 1 4 0 1
  0 0 0 0 6
  0 3 0 3 0
  2 0 4 0 0
  0 0 4 0 2
  2 0 3 1 0
  2 0 0 4 0
  0 0 0 0 6
  1 0 0 5 0
  1 1 0 4 0
  0 3 3 0 0
  1 0 0 5 0
  0 2 0 3 1
  0 0 5 0 1
  3 0 0 1 2
  5 1 0 0 0
  0 2 0 4 0
  1 0 2 0 3
  0 0 0 0 6
  0 1 0 5 0
  0 2 0 1 3
  2 0 0 4 0
  1 0 0 4 1
  0 5 0 1 0
  4 0 0 0 2
  0 2 0 4 0
  1 0 5 0 0
  0 0 0 0 6`)

/** Wikipedia, "Fleiss' kappa": fourteen raters, ten items, five categories. */
const FOURTEEN_RATERS = fromCounts(`
  0 0 0 0 14
  0 2 6 4 2
  0 0 3 5 6
  0 3 9 2 0
  2 2 8 1 1
  7 7 0 0 0
  3 2 6 3 0
  2 5 3 2 2
  6 5 2 1 0
  0 2 2 3 7`)

const table = (bothYes: number, yesNo: number, noYes: number, bothNo: number): boolean[][] => [
  ...new Array(bothYes).fill([true, true]),
  ...new Array(yesNo).fill([true, false]),
  ...new Array(noYes).fill([false, true]),
  ...new Array(bothNo).fill([false, false]),
]

describe("Cohen's kappa", () => {
  // Wikipedia, "Cohen's kappa": three tables, with the values printed there.
  it.each([
    [20, 5, 10, 15, 0.4],
    [45, 15, 25, 15, 0.1304],
    [25, 35, 5, 35, 0.2593],
  ])('of the table %i %i %i %i is %f', (a, b, c, d, kappa) => {
    expect(cohenKappaOfRows(table(a, b, c, d))).toBeCloseTo(kappa, 4)
  })

  it('leaves out what a rater left out, and is undefined where chance explains all', () => {
    const first = [true, true, false, null, true]
    const second = [true, false, false, true, null]
    expect(cohenKappa(first, second)).toBeCloseTo(cohenKappa(first.slice(0, 3), second.slice(0, 3)) ?? -9, 12)
    expect(cohenKappa([true, true], [true, true])).toBeNull()
    expect(cohenKappa([null], [true])).toBeNull()
    expect(() => cohenKappa([true], [])).toThrow(DataError)
  })
})

describe("Fleiss' kappa", () => {
  it('of the psychiatric diagnoses is .430 (Fleiss 1971), with agreement .556', () => {
    expect(fleissKappa(DIAGNOSES)).toBeCloseTo(0.43, 3)
    expect(percentAgreement(DIAGNOSES)).toBeCloseTo(0.556, 3)
  })

  it('of fourteen raters is .210, with agreement .378', () => {
    expect(fleissKappa(FOURTEEN_RATERS)).toBeCloseTo(0.21, 3)
    expect(percentAgreement(FOURTEEN_RATERS)).toBeCloseTo(0.378, 3)
  })

  it('counts an item by those who rated it, and leaves out items with one rating', () => {
    expect(
      fleissKappa([...DIAGNOSES.map(row => [...row, null]), [1, null, null, null, null, null, null]]),
    ).toBeCloseTo(fleissKappa(DIAGNOSES) ?? -9, 12)
    expect(fleissKappa([[true, null]])).toBeNull()
    expect(fleissKappa([[true, true]])).toBeNull()
    expect(percentAgreement([])).toBeNull()
  })
})

describe("Kendall's W", () => {
  it('with ties: the anxiety ratings of R package irr, .5396569 by KendallW(anxiety, TRUE) of DescTools', () => {
    const ratings_R_I = [
      [3, 3, 3, 4, 5, 5, 2, 3, 5, 2, 2, 6, 1, 5, 2, 2, 1, 2, 4, 3],
      [3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4],
      [2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2],
    ]
    expect(kendallW(ratings_R_I)).toBeCloseTo(0.5396569, 7)
  })

  it('without ties, by hand: rank sums 5, 8, 10, 7 of three raters', () => {
    // Mean 7.5, squared deviations 6.25 + .25 + 6.25 + .25 = 13; 12 x 13 / (9 x 60) = .2889.
    expect(
      kendallW([
        [1, 3, 4, 2],
        [1, 4, 2, 3],
        [3, 1, 4, 2],
      ]),
    ).toBeCloseTo((12 * 13) / (9 * 60), 12)
  })

  it('is 1 for one order, 0 for two opposite ones, undefined without any', () => {
    expect(
      kendallW([
        [1, 2, 3],
        [10, 20, 30],
      ]),
    ).toBeCloseTo(1, 12)
    expect(
      kendallW([
        [1, 2, 3],
        [3, 2, 1],
      ]),
    ).toBeCloseTo(0, 12)
    expect(
      kendallW([
        [1, 1],
        [2, 2],
      ]),
    ).toBeNull()
    expect(kendallW([[1, 2]])).toBeNull()
    expect(() => kendallW([[1, 2], [1]])).toThrow(DataError)
  })

  it('gives tied values the mean of their ranks', () => {
    expect(midranks([10, 20, 20, 5])).toEqual([2, 3.5, 3.5, 1])
    expect(() => midranks([1, Number.NaN])).toThrow('got NaN')
  })

  it('stays in [0, 1], ties or not', () => {
    const scores = fc.integer({ min: 2, max: 6 }).chain(items =>
      fc.array(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: items, maxLength: items }), {
        minLength: 2,
        maxLength: 5,
      }),
    )
    fc.assert(
      fc.property(scores, scores_R_I => {
        const w = kendallW(scores_R_I)
        return w === null || (w >= -1e-9 && w <= 1 + 1e-9)
      }),
    )
  })
})

describe('intervals', () => {
  it('hold the estimate, shrink with more items, and repeat with the seed', () => {
    const few = agreementInterval(fleissKappa, DIAGNOSES, { resamples: 400 })
    const many = agreementInterval(fleissKappa, [DIAGNOSES, DIAGNOSES, DIAGNOSES, DIAGNOSES].flat(), {
      resamples: 400,
    })
    expect(few?.estimate).toBeCloseTo(0.43, 3)
    const width = (interval: typeof few) => (interval ? interval.high - interval.low : Number.NaN)
    expect(width(few)).toBeGreaterThan(1.5 * width(many))
    expect(few && few.low < few.estimate && few.estimate < few.high).toBe(true)
    expect(agreementInterval(fleissKappa, DIAGNOSES, { resamples: 400 })).toEqual(few)
    expect(agreementInterval(cohenKappaOfRows, [[true, true]])).toBeNull()
  })

  it('take no resample for agreement in which nobody rated what another did', () => {
    const opposed = [
      [true, false],
      [false, true],
    ]
    const alone = Array.from({ length: 8 }, () => [true, null])
    const interval = agreementInterval(cohenKappaOfRows, [...opposed, ...alone], { resamples: 200 })
    expect(interval).toMatchObject({ estimate: -1, low: -1 })
    expect(interval!.high).toBeLessThanOrEqual(0)
  })

  it('take a resample in which all said one thing for full agreement', () => {
    const rows = [...Array.from({ length: 3 }, () => [true, true]), [true, false]]
    const interval = agreementInterval(fleissKappa, rows, { resamples: 200 })
    expect(interval!.estimate).toBeLessThan(0)
    expect(interval!.high).toBe(1)
  })
})
