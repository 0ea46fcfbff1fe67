import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { drawLatency, FLEET_SCENARIO, type FleetScenario } from './endpoint.ts'
import { benchFleet, formatFleetBenchmark } from './fleet.ts'

/** A hundredth of the calls on half of the servers, with as little to spare as the whole has. */
const SMALL: Partial<FleetScenario> = {
  callsPerSecond: 100,
  seconds: 60,
  endpoints: 25,
  concurrency: 6,
  seed: 'small',
}

const small = await benchFleet(SMALL)
const ofKind = (kind: string) => small.endpoints.filter(endpoint => endpoint.kind === kind)

describe('a small fleet in trouble', () => {
  it('answers every call once, with its own answer', () => {
    expect(small.wrong).toBe(0)
    expect(small.answered + small.failed).toBe(small.calls)
    // 60 s at 100/s, a Poisson process of groups of 12.
    expect(small.calls).toBeGreaterThan(4500)
    expect(small.calls).toBeLessThan(7500)
    expect(small.failed).toBe(0)
    const served = small.endpoints.reduce((sum, { answered }) => sum + answered, 0)
    expect(served).toBe(small.answered)
    expect(small.attempts - small.wastedAttempts).toBe(small.answered)
  })

  it('keeps to the limits, as the servers see it', () => {
    expect(ofKind('metered').map(({ requestsPerMinute }) => requestsPerMinute)).toEqual([120])
    for (const { mostInFlight, requestsPerMinute, mostInAMinute } of small.endpoints) {
      expect(mostInFlight).toBeLessThanOrEqual(6)
      if (requestsPerMinute !== null) expect(mostInAMinute).toBeLessThanOrEqual(requestsPerMinute + 1)
    }
  })

  it('leaves an endpoint alone that is away, and goes back to it soon', () => {
    expect(['refusing', 'restarting', 'hanging'].map(kind => ofKind(kind).length)).toEqual([1, 1, 1])
    for (const { timesOpened, backAfterMs, attempts, answered } of [
      ...ofKind('refusing'),
      ...ofKind('restarting'),
    ]) {
      expect(timesOpened).toBeGreaterThan(0)
      // The longest pause of a breaker, and a straggler's time on top.
      expect(backAfterMs).toBeLessThan(15_000 + FLEET_SCENARIO.attemptTimeoutMs)
      // Ten seconds of a hundred calls each would be refused without a breaker.
      expect(attempts - answered).toBeLessThan(150)
    }
  })

  it('starves nobody', () => {
    expect(small.queueWaitMs.longest).toBeLessThan(10_000)
    expect(small.latencyMs.longest).toBeLessThan(600_000)
  })

  it('tells it in columns', () => {
    const text = formatFleetBenchmark(small)
    expect(text).toMatch(/answered +[\d,]+ {2}\d+\/s while calls came/)
    expect(text).toMatch(/1 away for a sixth of the time +[\d,]+ answered/)
  })
})

it('is the same for the same seed, but for the processor', async () => {
  const tiny = { ...SMALL, seconds: 15 }
  const [once, again, other] = [
    await benchFleet(tiny),
    await benchFleet(tiny),
    await benchFleet({ ...tiny, seed: 'other' }),
  ]
  const { processor: _, ...rest } = once
  expect(again).toMatchObject(rest)
  expect(other.calls).not.toBe(once.calls)
})

it('says with words what failed, where all servers are overwhelmed for too long', async () => {
  const result = await benchFleet({
    ...SMALL,
    ...{ seconds: 5, endpoints: 1, concurrency: 50 },
    latency: { ...FLEET_SCENARIO.latency, failureShare: 1 },
  })
  expect(result.answered).toBe(0)
  expect(result.failed).toBe(result.calls)
  expect(result.failures.server).toMatchObject({ message: expect.stringContaining('HTTP 500') })
})

it('draws latencies with the median and the tail that were asked for', () => {
  const rng = new Rng('latency')
  const drawn = Array.from({ length: 20_000 }, () => drawLatency(FLEET_SCENARIO.latency, rng)).sort(
    (a, b) => a - b,
  )
  const { medianMs, spread } = FLEET_SCENARIO.latency
  expect(drawn[10_000] / medianMs).toBeCloseTo(1, 1)
  // 84.1% of a log-normal lie below e^spread medians; the stragglers are one percent.
  expect(drawn[16_500] / (medianMs * Math.exp(spread))).toBeCloseTo(1, 0)
  expect(drawn[19_990]).toBeGreaterThan(10 * medianMs)
})
