/** @file A chat model behind any OpenAI-compatible `/v1/chat/completions`: vLLM, SGLang, llama.cpp or a hosted service. */

import type { z } from 'zod'
import { JudgeError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { type Cancellation, underSignal } from './cancellation.ts'
import type { ChatModel, ChatRequest, ChatResponse } from './chat-model.ts'
import { EndpointConnection, endpointUrl, type OpenAiRuntime, processWarning } from './connection.ts'
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

/**
 * A single attempt a call: retries, limits and failover are those of `judgeFleet`. What the server refuses (a structured
 * output, the name of the token limit, a setting of sampling) is asked for in the next simpler way at once, and remembered once
 * that worked. A setting of sampling that the server does not have is reported, once.
 */
export class OpenAiModel implements ChatModel {
  readonly name: string
  readonly variant: string
  readonly #settings: Settings
  readonly #server: EndpointConnection
  readonly #refusals = new Refusals()
  readonly #onWarning: (message: string) => void
  #body: BodySettings

  /** @throws ConfigError for settings that cannot be used, and for a key that is not in the environment */
  constructor(options: OpenAiOptions, runtime: OpenAiRuntime = {}) {
    const settings = parseWith(openAiSchema, options, 'judge endpoint')
    this.#settings = settings
    this.name = settings.model
    this.variant = variantOf(settings)
    this.#server = new EndpointConnection(endpointUrl(settings.url), settings, runtime)
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
    const { origin, key, clock } = this.#server
    const { attemptTimeoutMs, maxResponseBytes: maxBytes } = this.#settings
    const deadline = clock.now() + attemptTimeoutMs
    for (;;) {
      const timeoutMs = Math.max(1, deadline - clock.now())
      const sent = { body: requestBody(request, body), timeoutMs, maxBytes, cancellation }
      const incoming = await this.#server.post(sent)
      if (incoming.status >= 200 && incoming.status < 300) {
        const response = chatResponse(origin, incoming.body, key)
        if (body !== first) this.#remember(body)
        return response
      }
      const simpler = simplerBody(request, first, body, incoming)
      if (!simpler) throw statusError(origin, incoming, clock.date(), key)
      body = simpler
    }
  }

  #remember(body: BodySettings): void {
    const { leftOut } = this.#body
    this.#body = rememberedBody(this.#body, body)
    const lost = this.#body.leftOut.filter(field => !leftOut.includes(field))
    if (lost.length === 0) return
    this.#onWarning(
      `${this.#server.origin}: the server refused ${lost.join(', ')}; ${this.name} is asked without, and answers as the server's own settings have it`,
    )
  }

  /** Ends the connections; calls in progress fail. */
  close(): Promise<void> {
    return this.#server.close(new JudgeError('cancelled', 'the judge was closed'))
  }
}

/** A chat model behind an OpenAI-compatible endpoint. @throws ConfigError (see OpenAiModel) */
export const openAiModel = (options: OpenAiOptions, runtime?: OpenAiRuntime): OpenAiModel =>
  new OpenAiModel(options, runtime)
