/** @file Sampling sessions: weights that stay as they are, and the requests for samples of them, drawn together where they can be. */

import { randomUUID } from 'node:crypto'
import { Batcher } from '../../policy/chat/batcher.ts'
import type { SampleRequest as PolicySampleRequest, Sample, SamplingOptions } from '../../policy/index.ts'
import { modelInputTokens, type SampleOutput, type TopPromptLogprobs } from '../../tinker/index.ts'
import type { FixedWeights, SamplingEngines, TrainedShape } from './engines.ts'
import { RequestError } from './errors.ts'
import type { FairQueue } from './fair-queue.ts'
import type { SampleBody, WireSamplingParams } from './wire.ts'

export interface ServedSampler {
  id: string
  sessionId: string
  shape: TrainedShape
  weights: FixedWeights
  /** `tinker://` path of a checkpoint; null for the base model and for snapshots without a name. */
  path: string | null
  batcher: Batcher
}

export class Sampling {
  readonly #samplers = new Map<string, ServedSampler>()
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
    {
      shape,
      weights,
      path = null,
      id = randomUUID(),
    }: { shape: TrainedShape; weights: FixedWeights; path?: string | null; id?: string },
  ): ServedSampler {
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
  of(id: string): ServedSampler {
    const sampler = this.#samplers.get(id)
    if (sampler) return sampler
    throw new RequestError(404, `Sampling session not found: ${id}`)
  }

  ofSession(sessionId: string): ServedSampler[] {
    return [...this.#samplers.values()].filter(sampler => sampler.sessionId === sessionId)
  }

  close(id: string): void {
    this.#samplers.delete(id)
  }

  /** Ends what a session has open. @returns the samplers that there were */
  drop(sessionId: string): ServedSampler[] {
    const gone = this.ofSession(sessionId)
    for (const { id } of gone) this.#samplers.delete(id)
    return gone
  }

  /** Samples of one prompt, and the log-probs of its tokens where they are asked for. @throws DataError, RequestError */
  async sample(sampler: ServedSampler, request: SampleBody): Promise<SampleOutput> {
    const prompt = modelInputTokens(request.prompt)
    const { config } = sampler.shape.base
    const params = request.sampling_params
    checkPrompt(prompt, params, config)
    const k = request.topk_prompt_logprobs ?? 0
    const lastN = request.prompt_logprobs_last_n ?? prompt.length
    const [samples, promptLogprobs, topPromptLogprobs] = await Promise.all([
      sampler.batcher.submit({
        promptTokens: prompt,
        options: optionsOf(params, config.maxPositions - prompt.length, config.eosTokenIds),
        count: request.num_samples,
        seed: params.seed ?? randomUUID(),
      }),
      request.prompt_logprobs ? this.#promptLogprobs(sampler, prompt, lastN) : null,
      k > 0 ? this.#topPromptLogprobs(sampler, prompt, k) : undefined,
    ])
    return {
      sequences: samples.map(({ tokens, logprobs, finishReason }) => ({
        stopReason: finishReason,
        tokens,
        logprobs,
      })),
      promptLogprobs,
      ...(topPromptLogprobs && { topPromptLogprobs }),
    }
  }

  /** One a token at temperature 1; the first has none, nor have those before the last `lastN`. */
  async #promptLogprobs(
    { sessionId, shape, weights }: ServedSampler,
    prompt: Int32Array,
    lastN: number,
  ): Promise<Float32Array> {
    const all = new Float32Array(prompt.length).fill(Number.NaN)
    if (prompt.length < 2) return all
    const item = { promptTokens: prompt.subarray(0, 1), tokens: prompt.subarray(1) }
    const [{ logprobs }] = await this.#queue.run(sessionId, async () =>
      (await this.#engines.with(shape, weights)).score([item]),
    )
    all.set(logprobs, 1)
    return all.fill(Number.NaN, 0, Math.max(1, prompt.length - lastN))
  }

  /** The likeliest tokens at each place: of what may follow each beginning of the prompt. */
  async #topPromptLogprobs(
    { sessionId, shape, weights }: ServedSampler,
    prompt: Int32Array,
    k: number,
  ): Promise<TopPromptLogprobs> {
    const tokens = new Int32Array(prompt.length * k)
    const logprobs = new Float32Array(prompt.length * k).fill(Number.NaN)
    const prompts = Array.from({ length: prompt.length - 1 }, (_, t) => prompt.subarray(0, t + 1))
    if (prompts.length === 0) return { k, tokens, logprobs }
    const next = await this.#queue.run(sessionId, async () =>
      (await this.#engines.with(shape, weights)).sample({
        ...{ prompts, maxTokens: 1, temperature: 0, topLogprobs: k },
      }),
    )
    for (const { prompt: place, top } of next)
      top![0].slice(0, k).forEach((one, i) => {
        tokens[(place + 1) * k + i] = one.token
        logprobs[(place + 1) * k + i] = one.logprob
      })
    return { k, tokens, logprobs }
  }
}

const checkPrompt = (
  prompt: Int32Array,
  { max_tokens: maxTokens }: WireSamplingParams,
  { maxPositions, vocabSize }: TrainedShape['base']['config'],
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
  params: WireSamplingParams,
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
