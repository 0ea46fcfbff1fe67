import { describe, expect, it } from 'vitest'
import { DataError } from '../util/errors.ts'
import { wilsonInterval } from '../util/intervals.ts'
import { judgeQuality, type LabelledVerdict } from './judge-quality.ts'

const rows = (count: number, points: number, label: boolean, verdict: boolean | null): LabelledVerdict[] =>
  Array.from({ length: count }, () => ({ points, label, verdict }))

describe('quality of a judge', () => {
  // 100 positive rows: 40 met (36 accepted, 4 rejected), 50 not met (45 rejected, 5 accepted), 10 without a verdict.
  // 20 negative rows: 5 met (4 found, 1 missed), 15 not met (12 right, 3 falsely found).
  const labelled = [
    ...rows(36, 5, true, true),
    ...rows(4, 2, true, false),
    ...rows(45, 1, false, false),
    ...rows(5, 3, false, true),
    ...rows(10, 1, true, null),
    ...rows(4, -2, true, true),
    ...rows(1, -2, true, false),
    ...rows(12, -1, false, false),
    ...rows(3, -9, false, true),
  ]
  const quality = judgeQuality(labelled)

  it('counts errors by sign of points, over the verdicts that were given', () => {
    expect(quality.positive).toMatchObject({ rows: 100, judged: 90 })
    expect(quality.positive.agreement?.estimate).toBeCloseTo(81 / 90, 12)
    expect(quality.positive.falseAccept?.estimate).toBeCloseTo(5 / 50, 12)
    expect(quality.positive.falseReject?.estimate).toBeCloseTo(4 / 40, 12)
    expect(quality.negative.falseAccept?.estimate).toBeCloseTo(3 / 15, 12)
    expect(quality.negative.falseReject?.estimate).toBeCloseTo(1 / 5, 12)
    expect(quality.all.agreement?.estimate).toBeCloseTo(97 / 110, 12)
  })

  it('counts missing verdicts by sign, and fails the honesty check above 5% for either', () => {
    expect(quality.positive.nullRate?.estimate).toBeCloseTo(0.1, 12)
    expect(quality.negative.nullRate?.estimate).toBe(0)
    expect(quality.nullsAcceptable).toBe(false)
    const few = [...rows(19, 1, true, true), ...rows(1, 1, true, null)]
    expect(judgeQuality(few).nullsAcceptable).toBe(true)
    expect(judgeQuality([...few, ...rows(1, 1, true, null)]).nullsAcceptable).toBe(false)
  })

  it("gives Wilson's interval: 5 of 50 is .0435 to .2136 (Newcombe's method 3, by hand)", () => {
    // (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n) with p = .1, n = 50, z = 1.96.
    const [p, n, z] = [0.1, 50, 1.959964]
    const half = z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n))
    const centre = p + (z * z) / (2 * n)
    const scale = 1 + (z * z) / n
    expect(quality.positive.falseAccept?.low).toBeCloseTo((centre - half) / scale, 6)
    expect(quality.positive.falseAccept?.high).toBeCloseTo((centre + half) / scale, 6)
    expect(quality.positive.falseAccept?.low).toBeCloseTo(0.0435, 4)
  })

  it('corrects agreement for chance', () => {
    // Negative rows: both say met for 4, judge alone 3, label alone 1, neither 12.
    const expected = (7 / 20) * (5 / 20) + (13 / 20) * (15 / 20)
    expect(quality.negative.kappa).toBeCloseTo((16 / 20 - expected) / (1 - expected), 12)
  })

  it('widens intervals when the verdicts of a response go together', () => {
    const grouped = Array.from({ length: 200 }, (_, i) => ({
      points: 1,
      label: true,
      verdict: Math.floor(i / 10) % 4 !== 0,
      group: `response ${Math.floor(i / 10)}`,
    }))
    const width = (labels: LabelledVerdict[]) => {
      const { low, high, estimate } = judgeQuality(labels).all.falseReject ?? { low: 0, high: 0, estimate: 0 }
      expect(estimate).toBeCloseTo(0.25, 12)
      return high - low
    }
    expect(width(grouped)).toBeGreaterThan(2 * width(grouped.map(({ group: _, ...row }) => row)))
  })

  it('leaves room where groups are all alike, or there is one: as much as for so many rows', () => {
    const grouped = (met: readonly boolean[], group = (i: number) => `response ${i}`) =>
      met.map((verdict, i) => ({ points: 1, label: false, verdict, group: group(i) }))
    const never = judgeQuality(grouped(Array(20).fill(false))).all
    expect(never.falseAccept).toEqual(wilsonInterval(0, 20))
    expect(never.agreement).toEqual(wilsonInterval(20, 20))
    const { estimate, low, high } = judgeQuality(grouped([true, false], () => 'one')).all.falseAccept!
    expect([estimate, low < 0.1, high > 0.9]).toEqual([0.5, true, true])
  })

  it('says null where there is nothing to divide by', () => {
    const only = judgeQuality(rows(3, 1, true, null))
    expect(only.positive).toMatchObject({ judged: 0, agreement: null, falseAccept: null, falseReject: null })
    expect(only.negative).toMatchObject({ rows: 0, nullRate: null })
  })

  it('refuses rows that it cannot use', () => {
    expect(() => judgeQuality([])).toThrow(DataError)
    expect(() => judgeQuality(rows(1, 0, true, true))).toThrow('points other than zero')
    expect(() =>
      judgeQuality([...rows(1, 1, true, true), { ...rows(1, 1, true, true)[0], group: 'a' }]),
    ).toThrow('group in all rows')
  })
})
