/** @file A chat model behind any OpenAI-compatible `/v1/chat/completions`: vLLM, SGLang, llama.cpp or a hosted service. */

import { type Dispatcher, Pool } from 'undici'
import type { z } from 'zod'
import { ConfigError, JudgeError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { describeSecret } from '../util/secret-words.ts'
import { type Cancellation, underSignal } from './cancellation.ts'
import type { ChatModel, ChatRequest, ChatResponse } from './chat-model.ts'
import { type Clock, systemClock } from './clock.ts'
import { readKey } from './credentials.ts'
import { exchange, type Incoming } from './exchange.ts'
import { type OpenAiOptions, openAiSchema } from './openai-config.ts'
import { Refusals } from './refusals.ts'
import {
  type BodySettings,
  rememberedBody,
  requestBody,
  type StructuredOutput,
  simplerBody,
  variantOf,
} from './request.ts'
import { chatResponse, statusError } from './response.ts'

type Settings = z.output<typeof openAiSchema>

export interface OpenAiRuntime {
  clock?: Clock
  /** In place of our own connections: a proxy agent of undici, for example. The caller closes it. */
  dispatcher?: Dispatcher
  env?: Readonly<Record<string, string | undefined>>
  /** Called with what a person should know. Default: a process warning. */
  onWarning?: (message: string) => void
}

/** A warning for a person where nobody listens for it. */
export const processWarning = (message: string): void => process.emitWarning(message, 'GradusWarning')

/** Where a path of the API (`/chat/completions`) lies on the server that a setting names. @throws ConfigError */
export const endpointUrl = (text: string, api = '/chat/completions', what = 'judge url'): URL => {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    // What stands before an @ may be a password.
    const shown = text.includes('@') ? 'another text' : (describeSecret(text) ?? text)
    throw new ConfigError(`${what}: expected an address such as http://127.0.0.1:8000/v1, got ${shown}`)
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ConfigError(`${what}: expected http or https, got ${url.protocol.slice(0, -1)}`)
  if (url.username || url.password)
    throw new ConfigError(`${what}: expected no user or password in it, got one`, {
      hint: 'put the key into an environment variable and name it in apiKeyEnv',
    })
  const path = url.pathname.replace(/\/+$/, '')
  if (path === '') url.pathname = `/v1${api}`
  else if (!path.endsWith(api)) url.pathname = `${path}${api}`
  return url
}

/** Headers of a request, with the key where there is one. */
export const requestHeaders = (
  { headers, apiKeyHeader }: Pick<Settings, 'headers' | 'apiKeyHeader'>,
  key: string | undefined,
): Record<string, string> => ({
  'content-type': 'application/json',
  accept: 'application/json',
  ...headers,
  ...(key !== undefined && {
    [apiKeyHeader]: apiKeyHeader.toLowerCase() === 'authorization' ? `Bearer ${key}` : key,
  }),
})

/**
 * A single attempt a call: retries, limits and failover are those of `judgeFleet`. What the server refuses (a structured
 * output, the name of the token limit, a setting of sampling) is asked for in the next simpler way at once, and remembered once
 * that worked. A setting of sampling that the server does not have is reported, once.
 */
export class OpenAiModel implements ChatModel {
  readonly name: string
  readonly variant: string
  readonly #settings: Settings
  readonly #url: URL
  readonly #key: string | undefined
  readonly #headers: Record<string, string>
  readonly #dispatcher: Dispatcher
  readonly #ownsDispatcher: boolean
  readonly #clock: Clock
  readonly #refusals = new Refusals()
  readonly #onWarning: (message: string) => void
  #body: BodySettings

  /** @throws ConfigError for settings that cannot be used, and for a key that is not in the environment */
  constructor(options: OpenAiOptions, runtime: OpenAiRuntime = {}) {
    const settings = parseWith(openAiSchema, options, 'judge endpoint')
    this.#settings = settings
    this.name = settings.model
    this.variant = variantOf(settings)
    this.#url = endpointUrl(settings.url)
    this.#key = readKey(settings, runtime.env ?? process.env)
    this.#headers = requestHeaders(settings, this.#key)
    this.#clock = runtime.clock ?? systemClock
    this.#ownsDispatcher = runtime.dispatcher === undefined
    this.#dispatcher =
      runtime.dispatcher ?? new Pool(this.#url.origin, { connections: settings.connections, pipelining: 1 })
    this.#onWarning = runtime.onWarning ?? processWarning
    this.#body = { ...settings, leftOut: [] }
  }

  /** How the server is asked for JSON by now, after what it refused. */
  get structuredOutput(): StructuredOutput {
    return this.#body.structuredOutput
  }

  /** @throws JudgeError when this attempt has no answer, and when cancelled; a fatal one not for a stray refusal (see Refusals) */
  async complete(request: ChatRequest): Promise<ChatResponse> {
    try {
      const response = await underSignal(request.signal, cancellation => this.attempt(request, cancellation))
      this.#refusals.answered()
      return response
    } catch (error) {
      throw error instanceof JudgeError && error.fatal ? this.#refusals.taken(error) : error
    }
  }

  /** As `complete`, under a cancellation instead of the request's signal, and with every error as it is. */
  async attempt(request: ChatRequest, cancellation: Cancellation): Promise<ChatResponse> {
    const first = this.#body
    let body = first
    const deadline = this.#clock.now() + this.#settings.attemptTimeoutMs
    for (;;) {
      const timeoutMs = Math.max(1, deadline - this.#clock.now())
      const incoming = await this.#post(requestBody(request, body), timeoutMs, cancellation)
      if (incoming.status >= 200 && incoming.status < 300) {
        const response = chatResponse(this.#url.origin, incoming.body, this.#key)
        if (body !== first) this.#remember(body)
        return response
      }
      const simpler = simplerBody(request, first, body, incoming)
      if (!simpler) throw statusError(this.#url.origin, incoming, this.#clock.date(), this.#key)
      body = simpler
    }
  }

  #post(body: string, timeoutMs: number, cancellation: Cancellation): Promise<Incoming> {
    const { origin, pathname, search } = this.#url
    return exchange(
      this.#dispatcher,
      {
        origin,
        path: pathname + search,
        headers: this.#headers,
        body,
        timeoutMs,
        maxBytes: this.#settings.maxResponseBytes,
        cancellation,
      },
      this.#clock,
    )
  }

  #remember(body: BodySettings): void {
    const { leftOut } = this.#body
    this.#body = rememberedBody(this.#body, body)
    const lost = this.#body.leftOut.filter(field => !leftOut.includes(field))
    if (lost.length === 0) return
    this.#onWarning(
      `${this.#url.origin}: the server refused ${lost.join(', ')}; ${this.name} is asked without, and answers as the server's own settings have it`,
    )
  }

  /** Ends the connections; calls in progress fail. */
  async close(): Promise<void> {
    if (!this.#ownsDispatcher) return
    await this.#dispatcher.destroy(new JudgeError('cancelled', 'the judge was closed'))
  }
}

/** A chat model behind an OpenAI-compatible endpoint. @throws ConfigError (see OpenAiModel) */
export const openAiModel = (options: OpenAiOptions, runtime?: OpenAiRuntime): OpenAiModel =>
  new OpenAiModel(options, runtime)
