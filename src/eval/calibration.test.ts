import { describe, expect, it } from 'vitest'
import { Rng } from '../util/rng.ts'
import { areaUnderCurve, calibrated, crossCalibrated, fitCalibration, reliability } from './calibration.ts'

/** Rows whose truth has the odds exp(logOdds / temperature + bias). */
const drawn = (count: number, temperature: number, bias: number) => {
  const rng = new Rng('calibration')
  return Array.from({ length: count }, (_, i) => {
    const logOdds = 12 * rng.next() - 6
    const label = rng.next() < 1 / (1 + Math.exp(-calibrated(logOdds, { temperature, bias })))
    return { logOdds, label, group: String(Math.floor(i / 2)) }
  })
}

describe('log-odds against labels', () => {
  it('area under the curve counts pairs, ties half', () => {
    const labels = [false, true, false, true]
    expect(areaUnderCurve([0.1, 0.4, 0.4, 0.9], labels)).toBe((1 + 0.5 + 1 + 1) / 4)
    expect(areaUnderCurve([0.4, 0.9], [true, true])).toBeNull()
  })

  it('are calibrated by the temperature and bias that they were drawn with', () => {
    const { temperature, bias } = fitCalibration(drawn(20_000, 2.5, -1))!
    expect(temperature).toBeCloseTo(2.5, 0)
    expect(bias).toBeCloseTo(-1, 1)
  })

  it('have a finite calibration also where labels can be distinguished, and none where yes means no', () => {
    const apart = [-3, -2, -1, 1, 2, 3].map(logOdds => ({ logOdds, label: logOdds > 0 }))
    const { temperature, bias } = fitCalibration(apart)!
    expect(temperature).toBeGreaterThan(0)
    expect(bias).toBeCloseTo(0, 6)
    expect(fitCalibration(apart.map(row => ({ ...row, label: !row.label })))).toBeNull()
    expect(fitCalibration(apart.filter(({ label }) => label))).toBeNull()
    expect(fitCalibration([true, false, true].map(label => ({ logOdds: 3, label })))).toBeNull()
    const far = [-300, -200, 500, 1000].map((logOdds, i) => ({ logOdds, label: i > 1 }))
    expect(Number.isFinite(fitCalibration(far)!.temperature)).toBe(true)
  })

  it('calibrated by other groups, are as likely as they say, where they were not as they came', () => {
    const rows = drawn(4000, 3, 2)
    const held = crossCalibrated(rows).map((logOdds, i) => ({ logOdds: logOdds!, label: rows[i].label }))
    const [before, after] = [reliability(rows), reliability(held)]
    expect(before.ece).toBeGreaterThan(0.15)
    expect(after.ece).toBeLessThan(0.04)
    expect(after.brier).toBeLessThan(before.brier)
    expect(after.bins.reduce((sum, bin) => sum + bin.rows, 0)).toBe(4000)
  })

  it('of a group are calibrated without the labels of that group', () => {
    const rows = drawn(100, 2, 0)
    const flipped = rows.map(row => (row.group === '7' ? { ...row, label: !row.label } : row))
    const [a, b] = [crossCalibrated(rows), crossCalibrated(flipped)]
    const own = rows.flatMap(({ group }, i) => (group === '7' ? [i] : []))
    expect(own.map(i => b[i])).toEqual(own.map(i => a[i]))
    expect(b).not.toEqual(a)
  })

  it('Brier score and calibration error are by hand', () => {
    const rows = [
      { logOdds: Math.log(3), label: true },
      { logOdds: Math.log(3), label: false },
      { logOdds: -Math.log(4), label: false },
    ]
    const { brier, ece, bins } = reliability(rows)
    expect(brier).toBeCloseTo((0.25 ** 2 + 0.75 ** 2 + 0.2 ** 2) / 3, 12)
    expect(bins).toHaveLength(2)
    expect(ece).toBeCloseTo((1 * 0.2 + 2 * 0.25) / 3, 12)
  })
})
