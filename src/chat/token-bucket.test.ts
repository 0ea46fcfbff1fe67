import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TokenBucket } from './endpoint.ts'

describe('a token bucket', () => {
  const perMinute = fc.double({ min: 0.5, max: 100_000, noNaN: true })

  it('never lets more than its rate pass in any minute, whenever it is asked', () => {
    fc.assert(
      fc.property(perMinute, fc.array(fc.nat(5000), { minLength: 1, maxLength: 300 }), (rate, pausesMs) => {
        const bucket = new TokenBucket(rate, 0)
        const passedMs: number[] = []
        let nowMs = 0
        for (const pauseMs of pausesMs) {
          nowMs += pauseMs
          while (bucket.waitMs(1, nowMs) === 0 && passedMs.length < 2000) {
            bucket.take(1, nowMs)
            passedMs.push(nowMs)
          }
        }
        // A call needs its whole self: the rate may be exceeded by the one that a fraction of it was left for.
        const most = Math.max(1, Math.floor(rate + 1e-6))
        for (const [first, fromMs] of passedMs.entries()) {
          const beyond = passedMs[first + most]
          if (beyond !== undefined)
            expect(beyond - fromMs).toBeGreaterThanOrEqual(60_000 - 1e-3 - 60_000 / rate)
        }
      }),
    )
  })

  it('lets pass what it said it would, when it said', () => {
    fc.assert(
      fc.property(perMinute, fc.array(fc.nat(50), { maxLength: 50 }), (rate, amounts) => {
        const bucket = new TokenBucket(rate, 0)
        let nowMs = 0
        for (const amount of amounts) {
          const waitMs = bucket.waitMs(amount, nowMs)
          expect(Number.isFinite(waitMs)).toBe(true)
          nowMs += waitMs
          // The clock has a resolution, as has the arithmetic.
          expect(bucket.waitMs(amount, nowMs)).toBeLessThanOrEqual(1e-3)
          bucket.take(amount, nowMs)
        }
      }),
    )
  })

  it('what is given back never makes a burst', () => {
    fc.assert(
      fc.property(perMinute, fc.double({ min: 0, max: 1e9, noNaN: true }), (rate, given) => {
        const bucket = new TokenBucket(rate, 0)
        bucket.take(-given, 0)
        const burst = Math.max(1, rate / 600)
        bucket.take(burst, 0)
        expect(bucket.waitMs(1, 0)).toBeGreaterThan(0)
      }),
    )
  })

  it('without a limit never waits', () => {
    const bucket = new TokenBucket(Number.POSITIVE_INFINITY, 0)
    bucket.take(1e300, 0)
    expect(bucket.waitMs(1e300, 0)).toBe(0)
  })
})
