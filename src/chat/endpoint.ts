/** @file One endpoint of a fleet with its limits: who may call it now, and what became of the calls. */

import { JudgeError, type JudgeErrorKind } from '../util/errors.ts'
import { Breaker, type BreakerState } from './breaker.ts'
import type { ChatModel, ChatResponse, ChatUsage } from './chat-model.ts'
import type { OpenAiRuntime } from './connection.ts'
import type { EndpointSettings, FleetSettings } from './fleet-config.ts'
import { DurationHistogram, type DurationSummary } from './histogram.ts'
import { callCost, Ledger, type LedgerEntry } from './ledger.ts'
import { Refusals } from './refusals.ts'

/** Longest burst: what a tenth of a second earns (and always one). Timers are late by a few milliseconds; this makes up for it. */
const BURST_SHARE_OF_MINUTE = 1 / 600
const MINUTE_MS = 60_000

/**
 * Never lets more than `perMinute` pass in any 60 s when each amount is what it was said to be: the first burst is taken off
 * the rate. An amount above the burst passes when the bucket is full and leaves a debt.
 */
export class TokenBucket {
  readonly #unlimited: boolean
  readonly #burst: number
  readonly #perMs: number
  #level: number
  #atMs: number

  /** @param perMinute above 0; Infinity for no limit */
  constructor(perMinute: number, nowMs: number) {
    this.#unlimited = perMinute === Number.POSITIVE_INFINITY
    this.#burst = Math.max(1, perMinute * BURST_SHARE_OF_MINUTE)
    this.#perMs = (perMinute - (this.#burst - 1)) / MINUTE_MS
    this.#level = this.#burst
    this.#atMs = nowMs
  }

  /** Milliseconds until `amount` may pass; 0 is now. */
  waitMs(amount: number, nowMs: number): number {
    if (this.#unlimited) return 0
    this.#fill(nowMs)
    const missing = Math.min(amount, this.#burst) - this.#level
    // A hair of rounding must not cost another timer.
    return missing <= 1e-9 ? 0 : missing / this.#perMs
  }

  /** Takes `amount`; below zero is a debt that time pays. A negative amount gives back. */
  take(amount: number, nowMs: number): void {
    if (this.#unlimited) return
    this.#fill(nowMs)
    this.#level = Math.min(this.#burst, this.#level - amount)
  }

  #fill(nowMs: number): void {
    this.#level = Math.min(this.#burst, this.#level + (nowMs - this.#atMs) * this.#perMs)
    this.#atMs = nowMs
  }
}

type OwnLimits = 'weight' | 'concurrency' | 'requestsPerMinute' | 'tokensPerMinute' | 'price'
type SharedLimits = 'breaker' | 'longestRetryAfterMs' | 'refusalsInARow'

export interface EndpointLimits
  extends Pick<EndpointSettings, OwnLimits>,
    Pick<FleetSettings, SharedLimits>,
    Required<Pick<OpenAiRuntime, 'onWarning'>> {
  name: string
}

/** A call in progress. */
export interface EndpointCall {
  epoch: number
  startedMs: number
  estimatedTokens: number
}

export interface EndpointStats extends LedgerEntry {
  name: string
  state: BreakerState
  timesOpened: number
  inFlight: number
  /** How often it asked to be left alone for longer than it was. */
  longRetryAfters: number
  /** Failed attempts by kind. */
  failures: Partial<Record<JudgeErrorKind, number>>
  /** Of answered calls, from sending to the whole answer. */
  latency: DurationSummary
}

/** A warning that is still true is said again after this. */
const WARNING_EVERY_MS = 10 * 60_000

/** Failures in which the endpoint said nothing. */
const SILENCE: ReadonlySet<JudgeErrorKind> = new Set(['unreachable', 'timeout'])

/** Failures that say the endpoint is not well; the others are answers to a single request. */
const ILLNESS: ReadonlySet<JudgeErrorKind> = new Set(['server', 'unreachable', 'timeout'])

export class Endpoint<Model = ChatModel> {
  readonly name: string
  readonly weight: number
  readonly model: Model
  /** Of smooth weighted round robin (nginx, commit 52327e0: grows by the weight, pays when chosen). */
  credit = 0
  /** What every call fails of (a wrong key, no such model), until one succeeds. */
  fatal: JudgeError | null = null
  lastError: JudgeError | null = null
  readonly #limits: EndpointLimits
  readonly #breaker: Breaker
  readonly #requests: TokenBucket
  readonly #tokens: TokenBucket
  readonly #ledger: Ledger
  readonly #refusals: Refusals
  readonly #latency = new DurationHistogram()
  readonly #failures: Partial<Record<JudgeErrorKind, number>> = {}
  #inFlight = 0
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  #longRetryAfters = 0
  #warnedMs = Number.NEGATIVE_INFINITY

  constructor(model: Model, limits: EndpointLimits, nowMs: number) {
    this.name = limits.name
    this.weight = limits.weight
    this.model = model
    this.#limits = limits
    this.#breaker = new Breaker(limits.breaker)
    this.#requests = new TokenBucket(limits.requestsPerMinute ?? Number.POSITIVE_INFINITY, nowMs)
    this.#tokens = new TokenBucket(limits.tokensPerMinute ?? Number.POSITIVE_INFINITY, nowMs)
    this.#ledger = new Ledger(limits.price)
    this.#refusals = new Refusals(limits.refusalsInARow)
  }

  /** Milliseconds until a call of so many tokens may begin: 0 is now, Infinity when another call has to end first. */
  waitMs(tokens: number, nowMs: number): number {
    if (this.#inFlight >= this.#limits.concurrency) return Number.POSITIVE_INFINITY
    return Math.max(
      this.#breaker.waitMs(nowMs),
      this.#pausedUntilMs - nowMs,
      this.#requests.waitMs(1, nowMs),
      this.#tokens.waitMs(tokens, nowMs),
      0,
    )
  }

  get everAnswered(): boolean {
    return this.#refusals.everAnswered
  }

  /** Since when no call was let through normally; null while all is well. */
  get brokenSinceMs(): number | null {
    return this.#breaker.brokenSinceMs
  }

  begin(estimatedTokens: number, nowMs: number): EndpointCall {
    this.#inFlight++
    this.#ledger.attempt()
    this.#requests.take(1, nowMs)
    this.#tokens.take(estimatedTokens, nowMs)
    return { epoch: this.#breaker.begin(nowMs), startedMs: nowMs, estimatedTokens }
  }

  /** @returns what the call cost; null where that is not known */
  answered(call: EndpointCall, { usage }: Pick<ChatResponse, 'usage'>, nowMs: number): number | null {
    this.#inFlight--
    this.#breaker.success(call.epoch)
    this.#latency.record(nowMs - call.startedMs)
    this.#ledger.add(usage)
    this.#correct(call, usage, nowMs)
    this.fatal = null
    this.#refusals.answered()
    return callCost(usage, this.#limits.price)
  }

  /** @returns the error as it is to be taken: one that every call would meet is this call's only while it may be a stray one */
  failed(call: EndpointCall, error: unknown, nowMs: number): unknown {
    this.#inFlight--
    const known = error instanceof JudgeError ? error : null
    if (known) this.#failures[known.kind] = (this.#failures[known.kind] ?? 0) + 1
    if (known === null || known.kind === 'cancelled') {
      this.#breaker.withdraw(call.epoch)
      return error
    }
    if (!known.fatal && !SILENCE.has(known.kind)) this.#refusals.interrupted()
    const taken = known.fatal ? this.#refusals.taken(known) : known
    this.lastError = taken
    if (known.retryAfterMs !== undefined) this.#pause(known.retryAfterMs, nowMs)
    if (taken.fatal) {
      this.fatal = taken
      this.#breaker.open(nowMs)
    } else if (known.fatal || ILLNESS.has(known.kind)) this.#breaker.failure(call.epoch, nowMs)
    else this.#breaker.success(call.epoch)
    return taken
  }

  #pause(askedMs: number, nowMs: number): void {
    const { longestRetryAfterMs, name, onWarning } = this.#limits
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + Math.min(askedMs, longestRetryAfterMs))
    if (askedMs <= longestRetryAfterMs) return
    this.#longRetryAfters++
    if (nowMs - this.#warnedMs < WARNING_EVERY_MS) return
    this.#warnedMs = nowMs
    const seconds = (ms: number) => `${Math.round(ms / 1000)} s`
    onWarning(
      `${name}: asks to be left alone for ${seconds(askedMs)} (retry-after); it is tried again after ${seconds(longestRetryAfterMs)} (longestRetryAfterMs)`,
    )
  }

  /** The caller went away: the slot is free, and nothing was learnt. */
  abandoned(call: EndpointCall): void {
    this.#inFlight--
    this.#breaker.withdraw(call.epoch)
  }

  /** Replaces the estimate by what was really used. */
  #correct(call: EndpointCall, { promptTokens, completionTokens }: ChatUsage, nowMs: number): void {
    if (promptTokens === null || completionTokens === null) return
    this.#tokens.take(promptTokens + completionTokens - call.estimatedTokens, nowMs)
  }

  stats(nowMs: number): EndpointStats {
    return {
      name: this.name,
      state: this.#breaker.state(nowMs),
      timesOpened: this.#breaker.timesOpened,
      inFlight: this.#inFlight,
      longRetryAfters: this.#longRetryAfters,
      failures: { ...this.#failures },
      latency: this.#latency.summary(),
      ...this.#ledger.entry(),
    }
  }
}
