import { describe, expect, it } from 'vitest'
import { Admission } from './admission.ts'

const LIMITS = { requests: 3, requestsPerConnection: 2, heldBytes: 100, memoryBytes: 1000 }

const clocked = (limits = LIMITS) => {
  const clock = { atMs: 0, bytes: 0, heapShare: 0 }
  const admission = new Admission(limits, {
    nowMs: () => clock.atMs,
    residentBytes: () => clock.bytes,
    heapShare: () => clock.heapShare,
  })
  return { clock, admission }
}

describe('who is let in', () => {
  it('is so many at once, and again when one is answered', () => {
    const { admission } = clocked()
    for (let n = 0; n < 3; n++) expect(admission.enter(1)).toBe(null)
    expect(admission.enter(1)).toMatchObject({ status: 429, reason: 'requests', retryAfterS: 1 })
    admission.leave(0)
    expect(admission.enter(1)).toBe(null)
    expect(admission.requests).toBe(3)
  })

  it('is so many on one connection', () => {
    const { admission } = clocked()
    expect(admission.enter(2)).toBe(null)
    expect(admission.enter(3)).toMatchObject({ status: 429, reason: 'connection' })
    expect(admission.requests).toBe(1)
  })

  it('is as long as bodies fit into what may be held', () => {
    const { admission } = clocked()
    admission.enter(1)
    expect(admission.hold(60)).toBe(null)
    expect(admission.hold(41)).toMatchObject({ status: 429, reason: 'bytes' })
    expect(admission.hold(40)).toBe(null)
    expect(admission.enter(1)).toMatchObject({ reason: 'bytes' })
    admission.leave(100)
    expect([admission.heldBytes, admission.enter(1)]).toEqual([0, null])
  })

  it('is nobody while memory is used up; it is not asked for at every request', () => {
    const { admission, clock } = clocked()
    clock.bytes = 1001
    clock.atMs = 1000
    expect(admission.enter(1)).toMatchObject({ status: 429, reason: 'memory' })
    clock.bytes = 500
    clock.atMs = 1100
    expect(admission.enter(1)).toMatchObject({ reason: 'memory' })
    clock.atMs = 1300
    expect(admission.enter(1)).toBe(null)
  })

  it('is nobody while the JavaScript heap is nearly full, however much memory there is', () => {
    const { admission, clock } = clocked()
    clock.heapShare = 0.8
    expect(admission.enter(1)).toMatchObject({ status: 429, reason: 'memory' })
  })
})

describe('when to come back', () => {
  it('is when what is under way will be done at the present pace', () => {
    const { admission, clock } = clocked({ ...LIMITS, requests: 1000 })
    for (let n = 0; n < 110; n++) admission.enter(1)
    // Ten answers, one every two seconds, from 0 s: 18 s to 20 s for ten.
    for (let n = 0; n < 10; n++) {
      clock.atMs = 2000 * n
      admission.leave(0)
    }
    clock.atMs = 20_000
    // A hundred under way at 0.5 a second would take 200 s: the longest that is said is a minute.
    expect(admission.retryAfterS).toBe(60)
    for (let n = 0; n < 90; n++) admission.leave(0)
    // Ten under way; 64 answers are looked back on, all of this moment.
    expect(admission.retryAfterS).toBe(1)
  })
})
