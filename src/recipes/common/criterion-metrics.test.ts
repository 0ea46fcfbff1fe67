import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../rubric/criterion.ts'
import { agreement, discrimination, type KindedResponse } from './criterion-metrics.ts'

const response = (
  met: Record<string, boolean | number | null>,
  kinds?: Record<string, string>,
): KindedResponse => ({
  verdicts: Object.entries(met).map(
    ([criterionId, value]): Verdict => ({
      criterionId,
      met: typeof value === 'number' ? value > 0.5 : value,
      ...(typeof value === 'number' && { credit: value }),
      source: 'rule',
    }),
  ),
  ...(kinds && { kinds }),
})

describe('discrimination', () => {
  it('is the share of groups in which not all verdicts are equal', () => {
    const groups = [
      [response({ a: true, b: true }), response({ a: false, b: true })],
      [response({ a: true, b: false }), response({ a: true, b: false })],
      [response({ a: 0.5, b: true }), response({ a: 0.5, b: true }), response({ a: 1, b: true })],
      [response({ a: false, b: true }), response({ a: false, b: true })],
    ]
    // a differs in two of four groups, b in none, though it does from one group to the next.
    expect(discrimination(groups)).toEqual({ a: 0.5, b: 0 })
  })

  it('leaves out groups with fewer than two verdicts, and knows nothing without any', () => {
    const groups = [
      [response({ a: null }), response({ a: true })],
      [response({ a: true }), response({ a: false })],
      [response({ b: true })],
    ]
    expect(discrimination(groups)).toEqual({ a: 1 })
  })

  it('takes criteria of one kind together, each against itself', () => {
    const kinds = { x1: 'length', x2: 'length' }
    const group = [response({ x1: true, x2: false }, kinds), response({ x1: true, x2: true }, kinds)]
    // x1 is constant, x2 is not: half of the columns.
    expect(discrimination([group])).toEqual({ length: 0.5 })
  })
})

describe('agreement', () => {
  it('is the share of responses on which both say the same, where both say something', () => {
    const first = [{ a: true }, { a: false }, { a: true }, { a: null }, { a: true }].map(own => response(own))
    const second = [...Array.from({ length: 4 }, () => response({ a: true })), response({})]
    const found = agreement(first, second)
    expect(found.a).toBeCloseTo(2 / 3, 12)
    expect(agreement([response({ a: null })], [response({ a: true })])).toEqual({ a: null })
  })
})
