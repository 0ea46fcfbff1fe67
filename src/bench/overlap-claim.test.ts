import { describe, expect, it } from 'vitest'
import { overlapClaim } from './overlap.ts'

describe('RUS-9', () => {
  it('is decided by the rounds: kept, broken, or open', () => {
    const kept = overlapClaim([0.95, 1.02, 0.99, 1.1, 1.05, 0.97])
    // All six below the bound: one sign pattern of 64.
    expect(kept).toMatchObject({ status: 'reproduced', p: 1 / 64, bound: 1.15 })
    expect(kept.ratio).toBeCloseTo(1.005, 12)
    expect(overlapClaim([1.3, 1.2, 1.25, 1.4, 1.22, 1.3])).toMatchObject({
      status: 'not reproduced',
      pContrary: 1 / 64,
    })
    expect(overlapClaim([1.1, 1.2, 1.1, 1.2, 1.14, 1.16]).status).toBe('inconclusive')
  })

  it('is open with four rounds, whatever they say', () => {
    expect(overlapClaim([0.9, 0.9, 0.9, 0.9])).toMatchObject({ status: 'inconclusive', p: 1 / 16 })
  })
})
