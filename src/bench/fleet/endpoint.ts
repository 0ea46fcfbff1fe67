/** @file A judge's server that is only time: heavy-tailed latencies, failures, a quota, an outage. */

import type { ChatModel, ChatRequest, ChatResponse, VirtualClock } from '../../chat/index.ts'
import { JudgeError } from '../../util/errors.ts'
import type { Rng } from '../../util/rng.ts'

/** What can be wrong with an endpoint. Times are of the clock, in milliseconds. */
export interface EndpointNature {
  name: string
  /** What it is called in the result. */
  kind: 'usual' | 'slow' | 'quota' | 'metered' | 'refusing' | 'restarting' | 'hanging'
  /** Latency over that of a usual one. */
  slowness: number
  /** Answers more calls than this in a second with 429 and `retry-after`; Infinity: never. */
  callsPerSecond: number
  /**
   * Away in this time: connections are refused, or (`hanging`) taken and never answered; of one that is `restarting` the one and then,
   * while it loads its model, the other. Null: always there.
   */
  outage: { fromMs: number; toMs: number } | null
}

/** Latency of an answer: log-normal, and of a few stragglers a Pareto tail. */
export interface LatencyModel {
  medianMs: number
  /** Standard deviation of the logarithm. */
  spread: number
  stragglerShare: number
  /** A straggler takes `stragglerFactor` times as long at least; the tail is Pareto of this shape. */
  stragglerFactor: number
  tailShape: number
  longestMs: number
  /** Share of calls that end with a server's error, after a tenth of their time. */
  failureShare: number
}

const REFUSED_MS = 2
const BUSY_MS = 5
const RETRY_AFTER_MS = 1000
const MINUTE_MS = 60_000

/** Milliseconds of one answer. */
export const drawLatency = (model: LatencyModel, rng: Rng): number => {
  const usual = model.medianMs * Math.exp(model.spread * rng.normal())
  if (rng.next() >= model.stragglerShare) return usual
  return Math.min(model.longestMs, usual * model.stragglerFactor * (1 - rng.next()) ** (-1 / model.tailShape))
}

const serverError = () => new JudgeError('server', 'HTTP 500', { status: 500 })
const refusedError = () => new JudgeError('unreachable', 'connection refused')
const timeoutError = (ms: number) => new JudgeError('timeout', `no complete answer within ${ms} ms`)
const busyError = () =>
  new JudgeError('rate-limit', 'HTTP 429', { status: 429, retryAfterMs: RETRY_AFTER_MS })

/** Answers a request with its own text. Counts what it was asked, so that limits can be checked from the other side. */
export class SimulatedEndpoint implements ChatModel {
  readonly name = 'judge'
  readonly nature: EndpointNature
  readonly #scenario: FleetScenario
  readonly #clock: VirtualClock
  readonly #rng: Rng
  #inFlight = 0
  /** Starts of the last minute, as a queue of times. */
  #starts: number[] = []
  #oldest = 0
  #windowMs = 0
  #inWindow = 0
  attempts = 0
  answered = 0
  /** Most at a time, and most that began within any minute. */
  mostInFlight = 0
  mostInAMinute = 0
  /** Sum over calls of the time that they were held while calls came, in milliseconds. */
  busyMs = 0
  /** First answer to a call that began after the outage; null before. */
  backAtMs: number | null = null

  constructor(nature: EndpointNature, scenario: FleetScenario, clock: VirtualClock, rng: Rng) {
    this.nature = nature
    this.#scenario = scenario
    this.#clock = clock
    this.#rng = rng
  }

  complete(request: ChatRequest): Promise<ChatResponse> {
    const nowMs = this.#clock.now()
    this.#begin(nowMs)
    const { delayMs, error } = this.#fateOf(nowMs)
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#inFlight--
        const countedMs = 1000 * this.#scenario.seconds
        this.busyMs += Math.max(0, Math.min(this.#clock.now(), countedMs) - nowMs)
      }
      const stop = this.#clock.after(delayMs, () => {
        end()
        if (error !== null) reject(error)
        else resolve(this.#answer(request, nowMs))
      })
      const { signal } = request
      if (signal)
        signal.onabort = () => {
          stop()
          end()
          reject(new JudgeError('cancelled', 'the caller went away'))
        }
    })
  }

  /** What becomes of a call, drawn when it begins. */
  #fateOf(nowMs: number): { delayMs: number; error: JudgeError | null } {
    // Drawn first, so that what an outage or a quota does changes no other call's latency.
    const { latency, attemptTimeoutMs } = this.#scenario
    const takesMs = drawLatency(latency, this.#rng) * this.nature.slowness
    const fails = this.#rng.next() < latency.failureShare
    const tooLong = () => ({ delayMs: attemptTimeoutMs, error: timeoutError(attemptTimeoutMs) })
    if (this.#isAway(nowMs))
      return this.#isSilent(nowMs) ? tooLong() : { delayMs: REFUSED_MS, error: refusedError() }
    if (this.#isBeyondQuota(nowMs)) return { delayMs: BUSY_MS, error: busyError() }
    if (fails) return { delayMs: takesMs / 10, error: serverError() }
    return takesMs > attemptTimeoutMs ? tooLong() : { delayMs: takesMs, error: null }
  }

  #answer({ messages }: ChatRequest, startedMs: number): ChatResponse {
    const { outage } = this.nature
    this.answered++
    if (outage !== null && startedMs >= outage.toMs) this.backAtMs ??= this.#clock.now()
    return {
      text: messages[0].content,
      finishReason: 'stop',
      usage: { promptTokens: 1200, completionTokens: 80, cachedTokens: 0 },
    }
  }

  #isAway(nowMs: number): boolean {
    const { outage } = this.nature
    return outage !== null && nowMs >= outage.fromMs && nowMs < outage.toMs
  }

  #isSilent(nowMs: number): boolean {
    const { kind, outage } = this.nature
    if (kind === 'hanging' || outage === null) return true
    return kind === 'restarting' && nowMs >= (outage.fromMs + outage.toMs) / 2
  }

  #isBeyondQuota(nowMs: number): boolean {
    if (nowMs - this.#windowMs >= 1000) {
      this.#windowMs = nowMs
      this.#inWindow = 0
    }
    return ++this.#inWindow > this.nature.callsPerSecond
  }

  #begin(nowMs: number): void {
    this.attempts++
    this.mostInFlight = Math.max(this.mostInFlight, ++this.#inFlight)
    this.#starts.push(nowMs)
    while (this.#starts[this.#oldest] <= nowMs - MINUTE_MS) this.#oldest++
    this.mostInAMinute = Math.max(this.mostInAMinute, this.#starts.length - this.#oldest)
    if (this.#oldest < 65_536) return
    this.#starts = this.#starts.slice(this.#oldest)
    this.#oldest = 0
  }
}

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
