/** @file Sampling sessions: weights that stay as they are, and the requests for samples of them, drawn together where they can be. */

import { randomUUID } from 'node:crypto'
import { Batcher } from '../../policy/chat/batcher.ts'
import type { SampleRequest as PolicySampleRequest, Sample, SamplingOptions } from '../../policy/index.ts'
import { modelInputTokens, type SampleOutput } from '../../tinker/index.ts'
import type { FixedWeights, SamplingEngines, Shape } from './engines.ts'
import { RequestError } from './errors.ts'
import type { FairQueue } from './fair-queue.ts'
import type { SampleRequest, SamplingParams } from './wire.ts'

export interface Sampler {
  id: string
  sessionId: string
  shape: Shape
  weights: FixedWeights
  /** `tinker://` path of a checkpoint; null for the base model and for snapshots without a name. */
  path: string | null
  batcher: Batcher
}

export class Sampling {
  readonly #samplers = new Map<string, Sampler>()
  readonly #engines: SamplingEngines
  readonly #queue: FairQueue
  readonly #maxRows: number

  /** @param maxRows samples that are drawn together */
  constructor(engines: SamplingEngines, queue: FairQueue, maxRows: number) {
    this.#engines = engines
    this.#queue = queue
    this.#maxRows = maxRows
  }

  open(
    sessionId: string,
    { shape, weights, path = null }: { shape: Shape; weights: FixedWeights; path?: string | null },
  ): Sampler {
    const id = `sampling_${randomUUID()}`
    const sample = (request: PolicySampleRequest, onSample?: (sample: Sample) => void) =>
      this.#queue.run(sessionId, async () =>
        (await this.#engines.with(shape, weights)).sample(request, onSample),
      )
    const batcher = new Batcher({ sample }, { maxRows: this.#maxRows, maxWaiting: Number.POSITIVE_INFINITY })
    const sampler = { id, sessionId, shape, weights, path, batcher }
    this.#samplers.set(id, sampler)
    return sampler
  }

  /** @throws RequestError 404 */
  of(id: string): Sampler {
    const sampler = this.#samplers.get(id)
    if (sampler) return sampler
    throw new RequestError(404, `Sampling session not found: ${id}`)
  }

  ofSession(sessionId: string): Sampler[] {
    return [...this.#samplers.values()].filter(sampler => sampler.sessionId === sessionId)
  }

  /** Ends what a session has open. @returns the samplers that there were */
  drop(sessionId: string): Sampler[] {
    const gone = this.ofSession(sessionId)
    for (const { id } of gone) this.#samplers.delete(id)
    return gone
  }

  /** Samples of one prompt, and the log-probs of its tokens where they are asked for. @throws DataError, RequestError */
  async sample(sampler: Sampler, request: SampleRequest): Promise<SampleOutput> {
    const prompt = modelInputTokens(request.prompt)
    const { config } = sampler.shape.base
    const params = request.sampling_params
    checkPrompt(prompt, params, config)
    if (request.topk_prompt_logprobs)
      throw new RequestError(
        422,
        `topk_prompt_logprobs: expected 0, got ${request.topk_prompt_logprobs}; this server gives the log-probs of the prompt's own tokens only`,
      )
    const [samples, promptLogprobs] = await Promise.all([
      sampler.batcher.submit({
        promptTokens: prompt,
        options: optionsOf(params, config.maxPositions - prompt.length, config.eosTokenIds),
        count: request.num_samples,
        seed: params.seed ?? randomUUID(),
      }),
      request.prompt_logprobs ? this.#promptLogprobs(sampler, prompt) : null,
    ])
    return {
      sequences: samples.map(({ tokens, logprobs, finishReason }) => ({
        stopReason: finishReason,
        tokens,
        logprobs,
      })),
      promptLogprobs,
    }
  }

  /** One a token at temperature 1; the first has none. */
  async #promptLogprobs({ sessionId, shape, weights }: Sampler, prompt: Int32Array): Promise<Float32Array> {
    const all = new Float32Array(prompt.length).fill(Number.NaN)
    if (prompt.length < 2) return all
    const item = { promptTokens: prompt.subarray(0, 1), tokens: prompt.subarray(1) }
    const [{ logprobs }] = await this.#queue.run(sessionId, async () =>
      (await this.#engines.with(shape, weights)).score([item]),
    )
    all.set(logprobs, 1)
    return all
  }
}

const checkPrompt = (
  prompt: Int32Array,
  { max_tokens: maxTokens }: SamplingParams,
  { maxPositions, vocabSize }: Shape['base']['config'],
): void => {
  if (prompt.length === 0) throw new RequestError(422, 'prompt: expected tokens, got none')
  if (prompt.length + (maxTokens ?? 1) > maxPositions)
    throw new RequestError(
      422,
      `prompt: ${prompt.length} tokens and ${maxTokens ?? 1} new ones exceed the context of ${maxPositions}; shorten it, or lower max_tokens`,
    )
  const odd = prompt.find(token => !(token >= 0 && token < vocabSize))
  if (odd !== undefined)
    throw new RequestError(422, `prompt: token ${odd} is outside the vocabulary of ${vocabSize}`)
}

/** The model's own end tokens end a sample beside those that are asked for: nothing sensible follows them. */
const optionsOf = (
  params: SamplingParams,
  room: number,
  endTokens: readonly number[],
): Omit<SamplingOptions, 'seed'> => {
  const stops = typeof params.stop === 'string' ? [params.stop] : (params.stop ?? [])
  const tokens = stops.filter(stop => typeof stop === 'number')
  return {
    maxTokens: params.max_tokens ?? room,
    temperature: params.temperature ?? 1,
    topK: Math.max(0, params.top_k ?? 0),
    topP: params.top_p ?? 1,
    stopTokens: [...new Set([...endTokens, ...tokens])],
    stopStrings: stops.filter(stop => typeof stop === 'string'),
  }
}
