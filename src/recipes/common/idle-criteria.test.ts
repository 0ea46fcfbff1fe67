import { describe, expect, it } from 'vitest'
import { idleCriteria } from './criterion-metrics.ts'

const rows = (count: number, criteria: (step: number) => Record<string, number | null>) =>
  Array.from({ length: count }, (_, i) => ({ step: i + 1, rollouts: 96, criteria: criteria(i + 1) }))

describe('criteria that tell nothing apart', () => {
  it('are those that no response met in any step, and those that every one met', () => {
    const metrics = rows(12, step => ({
      json: 0,
      offer: 1,
      short: step / 12,
      once: step === 7 ? 0.01 : 0,
      nearly: step === 7 ? 0.99 : 1,
    }))
    expect(idleCriteria(metrics)).toEqual([
      'criterion json was met by no response that was asked about it: it adds nothing to any advantage',
      'criterion offer was met by every response that was asked about it: it adds nothing to any advantage',
    ])
  })

  it('are named together, so many of them; what few steps say may be chance', () => {
    const many = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`c${i}`, 0]))
    expect(idleCriteria(rows(5, () => many))).toEqual([
      'criteria c0, c1, c2, c3, c4, c5, 2 more were met by no response that was asked about it: they add nothing to any advantage',
    ])
    expect(idleCriteria(rows(4, () => many))).toEqual([])
    // A row's own criterion is not in every step.
    expect(
      idleCriteria(
        rows(12, (step): Record<string, number | null> => (step < 5 ? { own: 0 } : { own: null })),
      ),
    ).toEqual([])
    expect(idleCriteria([])).toEqual([])
  })
})
