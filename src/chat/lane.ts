/** @file One endpoint of a fleet with its limits: who may call it now, and what became of the calls. */

import { JudgeError, type JudgeErrorKind } from '../util/errors.ts'
import { Breaker, type BreakerOptions, type BreakerState } from './breaker.ts'
import type { ChatModel, ChatResponse, ChatUsage } from './chat-model.ts'
import { DurationHistogram, type DurationSummary } from './histogram.ts'
import { Ledger, type LedgerEntry, type Price } from './ledger.ts'
import { TokenBucket } from './token-bucket.ts'

export interface LaneLimits {
  name: string
  weight: number
  concurrency: number
  /** Infinity: no limit. */
  requestsPerMinute: number
  tokensPerMinute: number
  price?: Price
  breaker: BreakerOptions
}

/** A call in progress. */
export interface LaneCall {
  epoch: number
  startedMs: number
  estimatedTokens: number
}

export interface LaneStats extends LedgerEntry {
  name: string
  state: BreakerState
  timesOpened: number
  inFlight: number
  attempts: number
  /** Failed attempts by kind. */
  failures: Partial<Record<JudgeErrorKind, number>>
  /** Of answered calls, from sending to the whole answer. */
  latency: DurationSummary
}

/** Failures that say the endpoint is not well; the others are answers to a single request. */
const ILLNESS: ReadonlySet<JudgeErrorKind> = new Set(['server', 'unreachable', 'timeout'])

export class Lane {
  readonly name: string
  readonly weight: number
  readonly model: ChatModel
  /** Of smooth weighted round robin (nginx, commit 52327e0: grows by the weight, pays when chosen). */
  credit = 0
  /** What every call fails of (a wrong key, no such model), until one succeeds. */
  fatal: JudgeError | null = null
  lastError: JudgeError | null = null
  everAnswered = false
  readonly #limits: LaneLimits
  readonly #breaker: Breaker
  readonly #requests: TokenBucket
  readonly #tokens: TokenBucket
  readonly #ledger: Ledger
  readonly #latency = new DurationHistogram()
  readonly #failures: Partial<Record<JudgeErrorKind, number>> = {}
  #inFlight = 0
  #attempts = 0
  #pausedUntilMs = Number.NEGATIVE_INFINITY

  constructor(model: ChatModel, limits: LaneLimits, nowMs: number) {
    this.name = limits.name
    this.weight = limits.weight
    this.model = model
    this.#limits = limits
    this.#breaker = new Breaker(limits.breaker)
    this.#requests = new TokenBucket(limits.requestsPerMinute, nowMs)
    this.#tokens = new TokenBucket(limits.tokensPerMinute, nowMs)
    this.#ledger = new Ledger(limits.price)
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

  get inFlight(): number {
    return this.#inFlight
  }

  /** Since when no call was let through normally; null while all is well. */
  get brokenSinceMs(): number | null {
    return this.#breaker.brokenSinceMs
  }

  begin(estimatedTokens: number, nowMs: number): LaneCall {
    this.#inFlight++
    this.#attempts++
    this.#requests.take(1, nowMs)
    this.#tokens.take(estimatedTokens, nowMs)
    return { epoch: this.#breaker.begin(nowMs), startedMs: nowMs, estimatedTokens }
  }

  answered(call: LaneCall, { usage }: ChatResponse, nowMs: number): void {
    this.#inFlight--
    this.#breaker.success(call.epoch)
    this.#latency.record(nowMs - call.startedMs)
    this.#ledger.add(usage)
    this.#correct(call, usage, nowMs)
    this.fatal = null
    this.everAnswered = true
  }

  failed(call: LaneCall, error: unknown, nowMs: number): void {
    this.#inFlight--
    const known = error instanceof JudgeError ? error : null
    if (known) this.#failures[known.kind] = (this.#failures[known.kind] ?? 0) + 1
    if (known === null || known.kind === 'cancelled') {
      this.#breaker.withdraw(call.epoch)
      return
    }
    this.lastError = known
    if (known.retryAfterMs !== undefined)
      this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + known.retryAfterMs)
    if (known.fatal) {
      this.fatal = known
      this.#breaker.open(nowMs)
    } else if (ILLNESS.has(known.kind)) this.#breaker.failure(call.epoch, nowMs)
    else this.#breaker.success(call.epoch)
  }

  /** The caller went away: the slot is free, and nothing was learnt. */
  abandoned(call: LaneCall): void {
    this.#inFlight--
    this.#breaker.withdraw(call.epoch)
  }

  /** Replaces the estimate by what was really used. */
  #correct(call: LaneCall, { promptTokens, completionTokens }: ChatUsage, nowMs: number): void {
    if (promptTokens === null || completionTokens === null) return
    this.#tokens.take(promptTokens + completionTokens - call.estimatedTokens, nowMs)
  }

  ledgerEntry(): LedgerEntry {
    return this.#ledger.entry()
  }

  stats(nowMs: number): LaneStats {
    return {
      name: this.name,
      state: this.#breaker.state(nowMs),
      timesOpened: this.#breaker.timesOpened,
      inFlight: this.#inFlight,
      attempts: this.#attempts,
      failures: { ...this.#failures },
      latency: this.#latency.summary(),
      ...this.#ledger.entry(),
    }
  }
}
