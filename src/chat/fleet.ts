/** @file A fleet of judges as one chat model: limits, fair queue, retries, circuit breakers, failover, ledger. */

import { JudgeError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { finalError, longestPauseMs } from './attempts.ts'
import { type Cancellation, cancelledError, SignalWatch } from './cancellation.ts'
import type { ChatModel, ChatRequest, ChatResponse } from './chat-model.ts'
import { type Clock, systemClock } from './clock.ts'
import { type OpenAiRuntime, processWarning } from './connection.ts'
import { Endpoint, type EndpointStats } from './endpoint.ts'
import { charactersOf, TokenEstimator } from './estimate.ts'
import { type EndpointSettings, type FleetOptions, type FleetSettings, fleetSchema } from './fleet-config.ts'
import { DurationHistogram, type DurationSummary } from './histogram.ts'
import { FleetJob, JobQueue } from './job.ts'
import { type LedgerEntry, sumEntries } from './ledger.ts'
import { OpenAiModel, openAiModel } from './openai.ts'
import { openAiSchema } from './openai-config.ts'

export interface FleetRuntime extends OpenAiRuntime {
  /** Uniform in [0, 1), for the jitter of retries. Unseeded unless given: it decides when, never what. */
  random?: () => number
  /** Makes the chat model of an endpoint; the OpenAI-compatible adapter unless given. */
  connect?: (endpoint: EndpointSettings) => ChatModel
}

export interface FleetStats {
  /** Requests that wait for an endpoint. */
  queued: number
  inFlight: number
  /** Answered and failed requests (not attempts). */
  answered: number
  failed: number
  /** From being ready to being sent, for each attempt. */
  queueWait: DurationSummary
  ledger: LedgerEntry
  endpoints: EndpointStats[]
}

const fleetName = ({ name, endpoints }: FleetSettings): string =>
  name ?? [...new Set(endpoints.map(({ model }) => model))].sort().join('|')

/**
 * Which endpoint will answer is not known before: an answer of the fleet is an answer of any of them, so what it depends on is
 * the set of all, each with its own model. Their number, order and weights, which a busy fleet does not keep to, are not in it.
 */
const fleetVariant = (
  { name, endpoints }: FleetSettings,
  models: readonly Pick<ChatModel, 'variant'>[],
): string => {
  const variants = new Set(models.map(({ variant = '' }) => variant))
  if (variants.size === 1) return [...variants][0]
  const members = endpoints.map(({ model }, i) => JSON.stringify([name ?? model, models[i].variant ?? '']))
  return JSON.stringify([...new Set(members)].sort())
}

const connectEndpoint = (
  endpoint: EndpointSettings,
  settings: FleetSettings,
  runtime: FleetRuntime,
  nowMs: number,
): Endpoint => {
  const { name = endpoint.url, concurrency } = endpoint
  const options = openAiSchema.strip().parse({ ...endpoint, connections: concurrency })
  const model = runtime.connect?.(endpoint) ?? openAiModel(options, runtime)
  const { onWarning = processWarning } = runtime
  return new Endpoint(model, { ...settings, ...endpoint, name, onWarning }, nowMs)
}

/** Calls under a cancellation: our own adapter takes it as it is, any other model gets a signal. */
const callModel = (
  model: ChatModel,
  request: ChatRequest,
  cancellation: Cancellation,
): Promise<ChatResponse> => {
  if (model instanceof OpenAiModel) return model.attempt(request, cancellation)
  const controller = new AbortController()
  cancellation.listener = reason => controller.abort(reason)
  return model.complete({ ...request, signal: controller.signal })
}

/** The response with what it took. */
const withAccount = (response: ChatResponse, attempts: number, cost: number | null): ChatResponse =>
  attempts === 1 && cost === null
    ? response
    : { ...response, ...(attempts > 1 && { attempts }), ...(cost !== null && { cost }) }

/**
 * Requests wait in one line, first come, first served; one that failed comes back to its front after a random pause. Each
 * goes to a free endpoint by weight, after a failure to another one where that is possible.
 */
export class JudgeFleet implements ChatModel {
  readonly name: string
  readonly variant: string
  readonly #settings: FleetSettings
  readonly #clock: Clock
  readonly #random: () => number
  readonly #endpoints: readonly Endpoint[]
  readonly #queue = new JobQueue()
  readonly #jobs = new Set<FleetJob>()
  readonly #estimator = new TokenEstimator()
  readonly #queueWait = new DurationHistogram()
  readonly #signals: SignalWatch<FleetJob>
  #answered = 0
  #failed = 0
  #closed = false
  #stopWake: (() => void) | null = null
  #wakeAtMs = Number.POSITIVE_INFINITY

  /** @throws ConfigError for settings that cannot be used, and for a key that is not in the environment */
  constructor(options: FleetOptions, runtime: FleetRuntime = {}) {
    const settings = parseWith(fleetSchema, options, 'judges')
    this.#settings = settings
    this.#clock = runtime.clock ?? systemClock
    this.#random = runtime.random ?? Math.random
    this.name = fleetName(settings)
    const nowMs = this.#clock.now()
    this.#endpoints = settings.endpoints.map(endpoint => connectEndpoint(endpoint, settings, runtime, nowMs))
    this.variant = fleetVariant(
      settings,
      this.#endpoints.map(({ model }) => model),
    )
    this.#signals = new SignalWatch((jobs, signal) => this.#drop(jobs, cancelledError(signal)))
  }

  /** @throws JudgeError when no attempt within `retries` and `deadlineMs` was answered, and when cancelled */
  complete(request: ChatRequest): Promise<ChatResponse> {
    if (this.#closed) return Promise.reject(new JudgeError('cancelled', 'the judges are closed'))
    if (request.signal?.aborted) return Promise.reject(cancelledError(request.signal))
    return new Promise((resolve, reject) => {
      const job = new FleetJob(request, charactersOf(request), this.#clock.now(), resolve, reject)
      job.stopDeadline = this.#clock.after(this.#settings.deadlineMs, () => this.#expire(job))
      this.#signals.add(request.signal, job)
      this.#jobs.add(job)
      this.#queue.push(job)
      this.#pump()
    })
  }

  /** Sends as many requests as the limits allow, then sleeps until one of them may allow more. */
  #pump(): void {
    for (let job = this.#queue.first; job !== null; job = this.#queue.first) {
      const nowMs = this.#clock.now()
      const tokens = this.#estimator.tokens(job.characters, job.request.maxTokens)
      const endpoint = this.#choose(job, tokens, nowMs)
      if (endpoint === null) {
        this.#sleep(tokens, nowMs)
        return
      }
      this.#queue.remove(job)
      void this.#attempt(job, endpoint, tokens, nowMs)
    }
  }

  /** A free endpoint by smooth weighted round robin; the one that failed last only when no other is free. */
  #choose(job: FleetJob, tokens: number, nowMs: number): Endpoint | null {
    let best: Endpoint | null = null
    let fallback: Endpoint | null = null
    let total = 0
    for (const endpoint of this.#endpoints) {
      if (endpoint.waitMs(tokens, nowMs) > 0) continue
      if (endpoint === job.lastEndpoint) {
        fallback = endpoint
        continue
      }
      endpoint.credit += endpoint.weight
      total += endpoint.weight
      if (best === null || endpoint.credit > best.credit) best = endpoint
    }
    if (best === null) return fallback
    best.credit -= total
    return best
  }

  #sleep(tokens: number, nowMs: number): void {
    const outageMs = this.#outageLeftMs(nowMs)
    if (outageMs <= 0) {
      this.#giveUp()
      return
    }
    let waitMs = outageMs
    for (const endpoint of this.#endpoints) waitMs = Math.min(waitMs, endpoint.waitMs(tokens, nowMs))
    if (waitMs === Number.POSITIVE_INFINITY || nowMs + waitMs >= this.#wakeAtMs) return
    this.#stopWake?.()
    this.#wakeAtMs = nowMs + waitMs
    this.#stopWake = this.#clock.after(Math.ceil(waitMs), () => {
      this.#stopWake = null
      this.#wakeAtMs = Number.POSITIVE_INFINITY
      this.#pump()
    })
  }

  /** How much longer requests should wait for endpoints of which none works; Infinity while one does. */
  #outageLeftMs(nowMs: number): number {
    let sinceMs = Number.NEGATIVE_INFINITY
    for (const { brokenSinceMs } of this.#endpoints) {
      if (brokenSinceMs === null) return Number.POSITIVE_INFINITY
      sinceMs = Math.max(sinceMs, brokenSinceMs)
    }
    if (this.#endpoints.every(endpoint => endpoint.fatal !== null)) return 0
    const { outageMs, startupMs } = this.#settings
    const answeredOnce = this.#endpoints.some(endpoint => endpoint.everAnswered)
    return sinceMs + (answeredOnce ? outageMs : Math.min(outageMs, startupMs)) - nowMs
  }

  /** Fails everything that waits: no endpoint works. */
  #giveUp(): void {
    const cause = this.#endpoints.map(own => own.fatal ?? own.lastError).find(error => error !== null)
    const error = cause ?? new JudgeError('unreachable', 'no judge can be reached')
    for (let job = this.#queue.first; job !== null; job = this.#queue.first)
      this.#fail(job, finalError(error, job.attempts))
  }

  async #attempt(job: FleetJob, endpoint: Endpoint, tokens: number, nowMs: number): Promise<void> {
    this.#queueWait.record(nowMs - job.readySinceMs)
    const call = endpoint.begin(tokens, nowMs)
    job.attempts++
    job.lastEndpoint = endpoint
    job.running = { endpoint, call }
    try {
      const response = await callModel(endpoint.model, job.request, job.cancellation)
      if (job.done) return
      job.running = null
      const cost = endpoint.answered(call, response, this.#clock.now())
      this.#estimator.observe(job.characters, response.usage)
      this.#finish(job)
      this.#answered++
      job.resolve(withAccount(response, job.attempts, cost))
    } catch (error) {
      if (job.done) return
      job.running = null
      this.#recover(job, endpoint.failed(call, error, this.#clock.now()))
    }
    this.#pump()
  }

  /** Another attempt, or the end. */
  #recover(job: FleetJob, error: unknown): void {
    const judgeError = error instanceof JudgeError ? error : null
    job.lastError = judgeError
    const elsewhere = judgeError?.fatal === true && this.#endpoints.some(endpoint => endpoint.fatal === null)
    const again = judgeError?.retryable === true && job.attempts <= this.#settings.retries
    if (!elsewhere && !again) {
      this.#fail(job, finalError(error, job.attempts))
      return
    }
    const longest = longestPauseMs(this.#settings, job.attempts, judgeError)
    job.stopWaiting = this.#clock.after(elsewhere ? 0 : this.#random() * longest, () => {
      job.readySinceMs = this.#clock.now()
      this.#queue.unshift(job)
      this.#pump()
    })
  }

  #expire(job: FleetJob): void {
    const last = job.lastError ? `; the last one: ${job.lastError.message}` : ''
    const message = `no answer within the deadline of ${this.#settings.deadlineMs} ms, after ${job.attempts} attempts${last}`
    this.#drop(
      [job],
      new JudgeError('timeout', message, {
        retryable: false,
        attempts: Math.max(1, job.attempts),
        cause: job.lastError ?? undefined,
      }),
    )
  }

  /** Ends jobs from outside: all of them, before the slots that become free are given to others. */
  #drop(jobs: Iterable<FleetJob>, error: JudgeError): void {
    for (const job of jobs) {
      const { running } = job
      job.running = null
      this.#fail(job, error)
      if (running === null) continue
      running.endpoint.abandoned(running.call)
      job.cancellation.cancel(error)
    }
    if (!this.#closed) this.#pump()
  }

  #fail(job: FleetJob, error: unknown): void {
    this.#finish(job)
    this.#failed++
    job.reject(error)
  }

  #finish(job: FleetJob): void {
    job.done = true
    job.stopDeadline()
    job.stopWaiting()
    this.#queue.remove(job)
    this.#jobs.delete(job)
    this.#signals.remove(job.request.signal, job)
  }

  stats(): FleetStats {
    const nowMs = this.#clock.now()
    const endpoints = this.#endpoints.map(endpoint => endpoint.stats(nowMs))
    return {
      queued: this.#queue.size,
      inFlight: endpoints.reduce((sum, { inFlight }) => sum + inFlight, 0),
      answered: this.#answered,
      failed: this.#failed,
      queueWait: this.#queueWait.summary(),
      ledger: sumEntries(endpoints),
      endpoints,
    }
  }

  /** Cancels what is in progress and ends the connections. */
  async close(): Promise<void> {
    this.#closed = true
    this.#stopWake?.()
    this.#drop([...this.#jobs], new JudgeError('cancelled', 'the judges were closed'))
    await Promise.all(this.#endpoints.map(endpoint => endpoint.model.close?.()))
  }
}

/**
 * Several endpoints as one chat model; see JudgeFleet.
 * @throws ConfigError for settings that cannot be used
 * @example
 * const endpoints = ['a', 'b'].map(name => ({ name, url: `http://${name}:8000/v1`, model: 'judge', concurrency: 1 }))
 * const fleet = judgeFleet({ endpoints }, { connect: ({ name }) => scriptedModel(() => `by ${name}`) })
 * const asked = ['Is it polite?', 'Is it short?'].map(content => fleet.complete({ messages: [{ role: 'user', content }] }))
 * const answers = await Promise.all(asked)
 * answers.map(({ text }) => text).toSorted() // [ 'by a', 'by b' ]
 * await fleet.close()
 */
export const judgeFleet = (options: FleetOptions, runtime?: FleetRuntime): JudgeFleet =>
  new JudgeFleet(options, runtime)
