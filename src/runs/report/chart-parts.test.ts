import { describe, expect, it } from 'vitest'
import type { ChartSeries, ChartSpec } from './chart-spec.ts'
import { legendText, tickText } from './client/numbers.ts'
import { axisLimits, chartParts, lastKnown } from './client/parts.ts'

const series = (kind: ChartSeries['kind'], values: (number | null)[], own = {}): ChartSeries => ({
  label: kind,
  color: 'c1',
  kind,
  values,
  ...own,
})
const chart = (unit: ChartSpec['unit'], ...parts: ChartSeries[]): ChartSpec => ({
  id: 'chart',
  title: 'Chart',
  unit,
  x: [1, 2, 3],
  series: parts,
})

describe('the parts of a chart', () => {
  it('are sums of areas, the tallest first, each with its own values for the legend', () => {
    const parts = chartParts(chart('seconds', series('area', [1, 2, 3]), series('area', [10, null, 30])))
    expect(parts.map(({ values }) => values)).toEqual([
      [11, 2, 33],
      [1, 2, 3],
    ])
    expect(parts.map(({ shown }) => shown)).toEqual([
      [10, null, 30],
      [1, 2, 3],
    ])
  })

  it('leave out what a logarithm has no place for, and nothing elsewhere', () => {
    const values = [0, -1, 0.5]
    expect(chartParts(chart('log', series('line', values)))[0].values).toEqual([null, null, 0.5])
    expect(chartParts(chart('number', series('line', values)))[0].values).toEqual(values)
  })
})

describe('the limits of the vertical axis', () => {
  it('are those of shares, lower where a score or its interval is below zero', () => {
    expect(axisLimits(chart('share', series('line', [0.2, null, 0.9])), 0.2, 0.9)).toEqual([0, 1])
    const penalised = series('points', [0.1, null, 0.3], { low: [-0.22, null, 0.1], high: [0.3, null, 0.5] })
    expect(axisLimits(chart('share', penalised), 0.1, 0.3)).toEqual([-0.3, 1])
  })

  it('hold the intervals of bands, which uPlot does not know', () => {
    const band = series('band', [4, 5, 6], { low: [2, 3, null], high: [6, 7, null] })
    const [low, high] = axisLimits(chart('number', band), 4, 6)
    expect(low).toBeCloseTo(2 - 0.08 * 5)
    expect(high).toBeCloseTo(7 + 0.08 * 5)
  })

  it('are powers of ten on a logarithmic scale, and 0 to 1 where nothing is known', () => {
    const gap = chart('log', series('line', [2e-6, 1e-3, 5e-4]))
    expect(axisLimits(gap, 2e-6, 1e-3)).toEqual([1e-6, expect.closeTo(1e-2, 10)])
    expect(axisLimits(gap, null, null)).toEqual([0, 1])
  })
})

it('finds the last value known up to a place', () => {
  expect(lastKnown([1, null, 3, null])).toBe(3)
  expect(lastKnown([1, null, 3, null], 1)).toBe(1)
  expect(lastKnown([null, 2], 0)).toBeNull()
})

it('writes values and ticks short', () => {
  expect([0.1234, null].map(legendText.share)).toEqual(['12.3%', '–'])
  expect([0, 0.00123, 0.5, 12.34, 123.4, 12345].map(legendText.number)).toEqual([
    ...['0', '1.2e-3', '0.5', '12.3', '123', '12,345'],
  ])
  expect(legendText.seconds(0.25)).toBe('0.25 s')
  expect([1e-3, 2e-3].map(tickText.log)).toEqual(['1e-3', ''])
  expect(tickText.rate(0.025)).toBe('2.5%')
})
