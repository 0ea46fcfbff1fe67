import { describe, expect, it } from 'vitest'
import { fakeRegistration } from '../fake-paper.fixture.ts'

describe('probes of a registration', () => {
  const ready = { name: 'best-of-n', arms: ['better', 'plain'], samples: 64, ns: [1, 64] }
  const near = { name: 'internalisation', arms: ['better'], thresholds: [0.5] }
  const claim = (arms: object, metric: unknown) => ({
    id: `P-${typeof metric === 'string' ? metric : 'other'}`,
    statement: 'x',
    arms,
    metric,
    direction: 'not-above',
    smallestEffect: 0.01,
  })
  const of =
    (probes: object[], ...claims: object[]) =>
    () =>
      fakeRegistration({ probes, ...(claims.length > 0 && { claims }) })

  it('have what claims ask them for', () => {
    const best = (n: number, arms: object = { a: 'better', b: 'plain' }) =>
      claim(arms, { name: 'best-of-n', n })
    expect(of([ready, near], best(64), claim({ a: 'better' }, 'internalisation'))).not.toThrow()
    expect(of([ready], best(32))).toThrow(
      'claims[0].metric.n: expected one of 1, 64, the ns of the probe, got 32',
    )
    expect(of([], best(64))).toThrow('claims[0].metric: expected a probe best-of-n of better, got none')
    expect(of([ready], best(64, { a: 'better', b: 'worse' }))).toThrow('a probe best-of-n of worse')
    expect(of([ready], best(64, { a: 'better', b: 'start' }))).toThrow(
      'expected no start with metric best-of-n',
    )
    expect(of([near], claim({ a: 'better' }, { name: 'internalisation', threshold: 0.9 }))).toThrow(
      'claims[0].metric.threshold: expected one of 0.5',
    )
    const shares = { name: 'novelty', arms: ['better'], shares: [1, 0] }
    const shown = (options: object) => claim({ a: 'better' }, { name: 'novelty', ...options })
    expect(of([shares], shown({ share: 1, lessShare: 0 }))).not.toThrow()
    expect(of([shares], shown({ share: 1, lessShare: 0.5 }))).toThrow(
      'claims[0].metric.lessShare: expected one of 1, 0, the shares of the probe, got 0.5',
    )
  })

  it('can be done, each once', () => {
    expect(of([{ ...ready, ns: [1, 128] }])).toThrow(
      'probes[0].ns: expected at most 64, the samples, got 128',
    )
    expect(of([ready, { ...ready, arms: ['worse', 'plain'] }])).toThrow(
      'probes[1].arms: expected every arm in one probe best-of-n, got plain twice',
    )
    expect(of([ready, { ...ready, arms: ['worse'] }])).not.toThrow()
  })
})
