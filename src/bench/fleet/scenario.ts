/** @file What a fleet of judges goes through in the simulation: how many servers, what is wrong with which, how calls come. */

import type { EndpointNature, LatencyModel } from './endpoint.ts'

export interface FleetScenario {
  /** Judge calls a second that are asked for, in groups of `callsAtOnce`: the criteria of a response. */
  callsPerSecond: number
  callsAtOnce: number
  /** Seconds of the clock in which calls come; then those under way are waited for. */
  seconds: number
  endpoints: number
  /** Calls that an endpoint takes at a time, and the fleet's limit. */
  concurrency: number
  latency: LatencyModel
  attemptTimeoutMs: number
  seed: string
}

export const FLEET_SCENARIO: FleetScenario = {
  callsPerSecond: 10_000,
  callsAtOnce: 12,
  seconds: 60,
  endpoints: 50,
  concurrency: 256,
  latency: {
    medianMs: 700,
    spread: 0.5,
    stragglerShare: 0.01,
    stragglerFactor: 4,
    tailShape: 1.5,
    longestMs: 300_000,
    failureShare: 0.01,
  },
  attemptTimeoutMs: 30_000,
  seed: 'fleet',
}

/** Of fifty endpoints these many of each kind; the others are as usual. */
const TROUBLED_OF_FIFTY = { refusing: 2, restarting: 2, hanging: 1, quota: 4, metered: 2, slow: 5 } as const

/** Share of an equal part of the calls that those with a quota take. */
const QUOTA_SHARE = 0.5

/** Calls a minute that the fleet may send to the metered ones, as a share of an equal part. */
const METERED_SHARE = 0.5

const AWAY: ReadonlySet<EndpointNature['kind']> = new Set(['refusing', 'restarting', 'hanging'])

/** The endpoints, troubled ones first. The outage lasts from a third of the time to the half of it. */
export const naturesOf = ({ endpoints, callsPerSecond, seconds }: FleetScenario): EndpointNature[] => {
  const kinds = Object.entries(TROUBLED_OF_FIFTY).flatMap(([kind, of]) =>
    Array.from({ length: Math.round((of * endpoints) / 50) }, () => kind as EndpointNature['kind']),
  )
  const outage = { fromMs: (seconds * 1000) / 3, toMs: (seconds * 1000) / 2 }
  return Array.from({ length: endpoints }, (_, i) => {
    const kind = kinds[i] ?? 'usual'
    return {
      name: `${kind}-${i}`,
      kind,
      slowness: kind === 'slow' ? 3 : 1,
      callsPerSecond:
        kind === 'quota' ? Math.max(1, (QUOTA_SHARE * callsPerSecond) / endpoints) : Number.POSITIVE_INFINITY,
      outage: AWAY.has(kind) ? outage : null,
    }
  })
}

/** Requests a minute that the fleet is told of an endpoint; undefined: no limit. */
export const requestsPerMinuteOf = (
  { kind }: EndpointNature,
  { callsPerSecond, endpoints }: FleetScenario,
): number | undefined =>
  kind === 'metered' ? Math.max(1, Math.round((60 * METERED_SHARE * callsPerSecond) / endpoints)) : undefined
