import { describe, expect, it } from 'vitest'
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatInteger,
  number,
  percent,
  percentInterval,
  percentNumber,
  plural,
  points,
  pointsInterval,
  threeDigits,
  wholePercent,
} from './format.ts'

describe('shares', () => {
  it('are percent with one decimal, a dash where there is none', () => {
    expect([0.6234, 0, 1, -0.05, null, undefined].map(percent)).toEqual([
      ...['62.3%', '0.0%', '100.0%', '−5.0%', '–', '–'],
    ])
    expect([0.6234, -0.05].map(percentNumber)).toEqual(['62.3', '−5.0'])
    expect([0.504, 0.506].map(wholePercent)).toEqual(['50%', '51%'])
    expect(percentInterval([0.591, 0.654])).toBe('59.1 to 65.4%')
  })

  it('differ in points with a sign, but for nothing', () => {
    expect([0.213, -0.04, 0, 0.0004, -0.0004].map(points)).toEqual([
      ...['+21.3', '−4.0', '±0.0', '±0.0', '±0.0'],
    ])
    expect(pointsInterval([-0.012, 0.247])).toBe('−1.2 to +24.7')
  })
})

it('numbers keep about four digits, without an exponent where that can be read', () => {
  expect([12, -3, 12345, 1234.5, 123.4, 12.34, 1.2345, 0.12, 0.00012].map(number)).toEqual([
    ...['12', '−3', '12,345', '1,235', '123', '12.3', '1.234', '0.12', '1.2e-4'],
  ])
  expect([0, 0.5, 12.345, 1234.5, 0.00012, 123456].map(threeDigits)).toEqual([
    ...['0', '0.5', '12.3', '1230', '1.2e-4', '1.2e+5'],
  ])
})

it('counts are whole, in groups of three or in words', () => {
  expect(formatInteger(1234567.6)).toBe('1,234,568')
  expect([999, 1000, 850_400, 3_085_938_688, 2.5e6].map(formatCount)).toEqual([
    ...['999', '1.00 thousand', '850 thousand', '3.09 billion', '2.50 million'],
  ])
  expect([0, 1, 2].map(n => plural(n, 'rollout'))).toEqual(['0 rollouts', '1 rollout', '2 rollouts'])
})

it('bytes are megabytes, at least one, or gigabytes', () => {
  expect([12, 320e6, 1.5e9].map(formatBytes)).toEqual(['1 MB', '320 MB', '1.5 GB'])
})

it('durations have the two units that matter', () => {
  expect([0, 0.4, 9, 12, 75, 3780].map(formatDuration)).toEqual([
    ...['0 s', '0.4 s', '9.0 s', '12 s', '1 min 15 s', '1 h 03 min'],
  ])
})
