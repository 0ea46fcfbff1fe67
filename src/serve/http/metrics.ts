/** @file What an HTTP front tells Prometheus: connections, requests, bytes held, refusals, loop delay, errors, drain. */

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Admission } from './admission.ts'
import type { Connections } from './connections.ts'

/** How often the loop's delay is sampled. */
const RESOLUTION_MS = 10

export const newCounter = (registry: Registry, name: string, help: string, labelNames: string[] = []) =>
  new Counter({ name: `gradus_${name}`, help, labelNames, registers: [registry] })

/** A gauge whose value is read at every scrape. */
export const readGauge = (
  registry: Registry,
  name: string,
  help: string,
  read: (gauge: Gauge) => void,
  labelNames: string[] = [],
): void => {
  new Gauge({
    name: `gradus_${name}`,
    help,
    labelNames,
    registers: [registry],
    collect() {
      read(this)
    },
  })
}

/** Delay of this thread's event loop as quantiles in seconds, since the last scrape. */
export const loopDelayGauge = (registry: Registry, name: string, help: string): IntervalHistogram => {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  const beyond = (ns: number) => Math.max(0, ns / 1e9 - RESOLUTION_MS / 1000)
  readGauge(
    registry,
    name,
    help,
    gauge => {
      for (const quantile of [50, 99])
        gauge.set({ quantile: String(quantile / 100) }, beyond(delay.percentile(quantile)))
      gauge.set({ quantile: '1' }, beyond(delay.max))
      delay.reset()
    },
    ['quantile'],
  )
  return delay
}

/** The front's own registry, so that two servers in a process do not mix. */
export class FrontMetrics {
  readonly registry = new Registry()
  readonly refused = newCounter(
    this.registry,
    'http_refused_total',
    'Requests that the front refused; untaken: answers that their client did not read.',
    ['reason'],
  )
  readonly unhandled = newCounter(
    this.registry,
    'unhandled_errors_total',
    'Errors that nobody caught; the server went on.',
    ['kind'],
  )
  readonly unanswered = newCounter(
    this.registry,
    'drain_unanswered_total',
    'Requests that a drain left without an answer.',
  )
  readonly #delay: IntervalHistogram

  constructor(admission: Admission, connections: Connections, isDraining: () => boolean) {
    const { registry } = this
    collectDefaultMetrics({ register: registry })
    this.#delay = loopDelayGauge(
      registry,
      'event_loop_delay_seconds',
      "Delay of the front's event loop since the last look, by quantile.",
    )
    readGauge(registry, 'http_connections', 'Open connections.', gauge => gauge.set(connections.size))
    readGauge(registry, 'http_requests_open', 'Requests without an answer yet.', gauge =>
      gauge.set(connections.openRequests),
    )
    readGauge(registry, 'http_requests_admitted', 'Requests that are read or worked on.', gauge =>
      gauge.set(admission.requests),
    )
    readGauge(
      registry,
      'http_held_bytes',
      'Bytes of bodies, and of answers that are not taken yet, that are held in memory.',
      gauge => gauge.set(admission.heldBytes),
    )
    readGauge(registry, 'draining', '1 while the server is being stopped.', gauge =>
      gauge.set(Number(isDraining())),
    )
  }

  text(): Promise<string> {
    return this.registry.metrics()
  }

  close(): void {
    this.#delay.disable()
    this.registry.clear()
  }
}
