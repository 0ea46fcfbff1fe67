/** @file Samples from weights that stay as they are: the base model's, or a snapshot of a model in training. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { type Decoder, resultOf } from './futures.ts'
import { modelInputJson, sampleOutputOf } from './json.ts'
import type { SampleOutput } from './messages.ts'
import { decodeSampleOutput } from './protobuf-output.ts'
import type { TinkerSession } from './session.ts'

export interface SamplingParams {
  maxTokens: number
  temperature: number
  topP: number
  /** -1 for all. */
  topK: number
  seed?: number
  /** Texts, or ids of tokens. */
  stop?: readonly string[] | readonly number[]
}

const sessionSchema = z.looseObject({ sampling_session_id: z.string() })
const futureSchema = z.looseObject({ request_id: z.union([z.string(), z.number()]).transform(String) })
const OUTPUT: Decoder<SampleOutput> = { json: sampleOutputOf, protobuf: decodeSampleOutput }

export class SamplingClient {
  readonly #session: TinkerSession
  readonly #id: string
  #seq = 0

  /** @param id of a sampling session that is open */
  constructor(session: TinkerSession, id: string) {
    this.#session = session
    this.#id = id
  }

  static async open(
    session: TinkerSession,
    weights: { baseModel: string } | { modelPath: string },
  ): Promise<SamplingClient> {
    const answer = await session.connection.json('create_sampling_session', {
      session_id: session.id,
      sampling_session_seq_id: session.nextSampler(),
      ...('baseModel' in weights ? { base_model: weights.baseModel } : { model_path: weights.modelPath }),
      type: 'create_sampling_session',
    })
    const { sampling_session_id: id } = parseWith(sessionSchema, answer, 'create_sampling_session', DataError)
    return new SamplingClient(session, id)
  }

  /** Samples of one prompt; a server that has no room is asked again until it has. */
  async sample(
    prompt: ArrayLike<number>,
    samples: number,
    params: SamplingParams,
    { promptLogprobs = false }: { promptLogprobs?: boolean } = {},
  ): Promise<SampleOutput> {
    const body = {
      num_samples: samples,
      prompt: modelInputJson(prompt),
      sampling_params: {
        max_tokens: params.maxTokens,
        temperature: params.temperature,
        top_p: params.topP,
        top_k: params.topK,
        ...(params.seed !== undefined && { seed: params.seed }),
        ...(params.stop && params.stop.length > 0 && { stop: [...params.stop] }),
      },
      sampling_session_id: this.#id,
      seq_id: this.#seq++,
      prompt_logprobs: promptLogprobs,
      topk_prompt_logprobs: 0,
      type: 'sample',
    }
    const { connection } = this.#session
    const submit = async () => {
      this.#session.assertAlive()
      const answer = await connection.json('asample', body, {
        headers: { 'x-tinker-sampling-backpressure': '1' },
      })
      return parseWith(futureSchema, answer, 'asample', DataError).request_id
    }
    return resultOf(connection, await submit(), 'Sample', OUTPUT, submit)
  }
}
