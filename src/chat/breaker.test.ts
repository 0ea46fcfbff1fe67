import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Breaker } from './breaker.ts'

const OPTIONS = { failureShare: 0.75, window: 8, minimumCalls: 4, pauseMs: 100, longestPauseMs: 1000 }

/** What may happen to a breaker: time passes, a call begins, and one of those under way ends. */
type Event =
  | { kind: 'pass'; ms: number }
  | { kind: 'begin' }
  | { kind: 'success' | 'failure' | 'withdraw'; call: number }
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(400) }),
  fc.constant({ kind: 'begin' as const }),
  fc.record({
    kind: fc.constantFrom('success' as const, 'failure' as const, 'withdraw' as const),
    call: fc.nat(20),
  }),
)

/** Plays the events; a call begins only where the breaker lets it. Tells of each call that began. */
const play = (events: readonly Event[], onBegin: (breaker: Breaker, underWay: number) => void = () => {}) => {
  const breaker = new Breaker(OPTIONS)
  const calls: number[] = []
  let nowMs = 0
  for (const each of events) {
    if (each.kind === 'pass') nowMs += each.ms
    else if (each.kind === 'begin') {
      if (breaker.waitMs(nowMs) > 0) continue
      onBegin(breaker, calls.length)
      calls.push(breaker.begin(nowMs))
    } else if (calls.length > 0) {
      const [epoch] = calls.splice(each.call % calls.length, 1)
      if (each.kind === 'failure') breaker.failure(epoch, nowMs)
      else breaker[each.kind](epoch)
    }
  }
  return { breaker, calls, nowMs }
}

describe('a breaker, whatever happens to it', () => {
  it('never waits for longer than its longest pause, or for a trial that has ended', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), events => {
        const { breaker, calls, nowMs } = play(events)
        // Those under way end without a word.
        for (const epoch of calls) breaker.withdraw(epoch)
        expect(breaker.waitMs(nowMs)).toBeLessThanOrEqual(OPTIONS.longestPauseMs)
        expect(breaker.waitMs(nowMs + OPTIONS.longestPauseMs)).toBe(0)
      }),
    )
  })

  it('closes with one success after its pause, and says since when it was not closed', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), events => {
        const { breaker, calls, nowMs } = play(events)
        for (const epoch of calls) breaker.withdraw(epoch)
        expect(breaker.state(nowMs) === 'closed').toBe(breaker.brokenSinceMs === null)
        const laterMs = nowMs + OPTIONS.longestPauseMs
        breaker.success(breaker.begin(laterMs))
        expect([breaker.state(laterMs), breaker.brokenSinceMs, breaker.waitMs(laterMs)]).toEqual([
          'closed',
          null,
          0,
        ])
      }),
    )
  })

  it('lets one trial through at a time while it is not closed', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), events => {
        let trials = 0
        let openings = 0
        play(events, breaker => {
          if (breaker.brokenSinceMs === null) trials = 0
          else if (breaker.timesOpened > openings) trials = 1
          else trials++
          openings = breaker.timesOpened
          // A trial that was given up, or that succeeded, makes room for another of the same opening.
          expect(trials).toBeLessThanOrEqual(1 + events.filter(({ kind }) => kind === 'withdraw').length)
        })
      }),
    )
  })

  it('opens under failures alone, and never without one', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), events => {
        const harmless = events.filter(({ kind }) => kind !== 'failure')
        expect(play(harmless).breaker.timesOpened).toBe(0)
      }),
    )
    const failing = Array.from({ length: 8 }, (_, i) =>
      i % 2 === 0 ? ({ kind: 'begin' } as const) : ({ kind: 'failure', call: 0 } as const),
    )
    expect(play(failing).breaker.timesOpened).toBe(1)
  })
})
