import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseWith } from '../util/schema.ts'
import { Breaker } from './breaker.ts'
import { fleetSchema } from './fleet-config.ts'

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
const play = (
  events: readonly Event[],
  onBegin: (breaker: Breaker, underWay: number, nowMs: number) => void = () => {},
) => {
  const breaker = new Breaker(OPTIONS)
  const calls: number[] = []
  let nowMs = 0
  for (const each of events) {
    if (each.kind === 'pass') nowMs += each.ms
    else if (each.kind === 'begin') {
      if (breaker.waitMs(nowMs) > 0) continue
      onBegin(breaker, calls.length, nowMs)
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

  it('lets one trial through at a time while it is not closed, but for one a pause later', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), events => {
        let openings = 0
        let lastMs = Number.NEGATIVE_INFINITY
        const room = events.some(({ kind }) => kind === 'withdraw')
        play(events, (breaker, _, nowMs) => {
          if (breaker.brokenSinceMs === null || breaker.timesOpened > openings)
            lastMs = Number.NEGATIVE_INFINITY
          openings = breaker.timesOpened
          // A trial that was given up makes room for another at once.
          if (!room) expect(nowMs - lastMs).toBeGreaterThanOrEqual(OPTIONS.pauseMs)
          lastMs = breaker.brokenSinceMs === null ? Number.NEGATIVE_INFINITY : nowMs
        })
      }),
    )
  })

  it('tries again while a trial hangs, after pauses that double, and believes whichever answers', () => {
    const hung = () => {
      const breaker = new Breaker(OPTIONS)
      breaker.open(0)
      const trials: { epoch: number; atMs: number }[] = []
      for (let nowMs = 0; nowMs <= 1500; nowMs += 50)
        if (breaker.waitMs(nowMs) === 0) trials.push({ epoch: breaker.begin(nowMs), atMs: nowMs })
      return { breaker, trials }
    }
    const { breaker, trials } = hung()
    expect(trials.map(({ atMs }) => atMs)).toEqual([100, 200, 400, 800])
    // The first one's failure is old news, though it comes last; the newest one's opens it again.
    breaker.failure(trials[0].epoch, 1500)
    expect(breaker.state(1500)).toBe('half-open')
    breaker.failure(trials[3].epoch, 1500)
    expect([breaker.state(1500), breaker.waitMs(1500)]).toEqual(['open', 1000])
    for (const answering of [0, 3]) {
      const other = hung()
      other.breaker.success(other.trials[answering].epoch)
      expect(other.breaker.state(1500)).toBe('closed')
      // What is heard of the others afterwards says nothing new.
      for (let i = 0; i < 8; i++) other.breaker.failure(other.trials[1].epoch, 1500)
      expect(other.breaker.state(1500)).toBe('closed')
    }
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

it.each([{ window: 5 }, { window: 8, minimumCalls: 9 }])('that could never open is refused: %j', breaker => {
  const fleet = (own: object) =>
    parseWith(fleetSchema, { endpoints: [{ url: 'http://x', model: 'm' }], breaker: own }, 'judge')
  expect(() => fleet(breaker)).toThrow(/judge: breaker\.minimumCalls: expected no more calls than window/)
  expect(fleet({ window: 8, minimumCalls: 8 }).breaker.window).toBe(8)
})
