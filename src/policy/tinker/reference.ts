/** @file The frozen reference of a KL term on a server: the base model, or a second adapter that stays as it was. */

import pMap from 'p-map'
import {
  SamplingClient as Client,
  type SamplingClient,
  TinkerError,
  type TinkerSession,
  type TrainingClient,
} from '../../tinker/index.ts'
import type { ScoreItem } from '../policy.ts'
import { responseLogprobs, scoredDatum } from './data.ts'

/** Sequences whose log-probs are asked for at a time. */
const CONCURRENCY = 32

export class ReferenceModel {
  readonly #score: (items: readonly ScoreItem[]) => Promise<Float32Array[]>
  readonly close: () => Promise<void>

  private constructor(
    score: (items: readonly ScoreItem[]) => Promise<Float32Array[]>,
    close: () => Promise<void>,
  ) {
    this.#score = score
    this.close = close
  }

  /** The base model, which an adapter that was never trained leaves as it is. */
  static async ofBase(session: TinkerSession, baseModel: string): Promise<ReferenceModel> {
    const client = await Client.open(session, { baseModel })
    return new ReferenceModel(
      items => pMap(items, item => promptLogprobs(client, item), { concurrency: CONCURRENCY }),
      async () => {},
    )
  }

  /**
   * Weights that were saved, in a model of their own: a snapshot to sample from would not do, because some servers let it follow
   * the training.
   */
  static async ofState(
    session: TinkerSession,
    path: string,
    create: () => Promise<TrainingClient>,
  ): Promise<ReferenceModel> {
    session.assertAlive()
    const client = await create()
    await client.load(path, false)
    return new ReferenceModel(
      async items => {
        const output = await client.forward(items.map(scoredDatum), 'cross_entropy').result
        return responseLogprobs(output, items)
      },
      () => client.unload().catch(() => {}),
    )
  }

  logprobs(items: readonly ScoreItem[]): Promise<Float32Array[]> {
    return this.#score(items)
  }
}

/** Prompt and response as a prompt: its last log-probs are the response's. */
const promptLogprobs = async (
  client: SamplingClient,
  { promptTokens, tokens }: ScoreItem,
): Promise<Float32Array> => {
  const params = { maxTokens: 1, temperature: 1, topP: 1, topK: -1, seed: 0 }
  const all = [...promptTokens, ...tokens]
  const { promptLogprobs: known } = await client.sample(all, 1, params, { promptLogprobs: true })
  const own = known?.slice(known.length - tokens.length)
  if (own && known!.length >= all.length - 1 && own.every(Number.isFinite)) return own
  throw new TinkerError(
    'malformed',
    `asample: expected log-probs of the ${all.length} tokens of a prompt, got ${known ? `${known.length}, not all of them numbers` : 'none'}`,
    { hint: 'without them there is no reference: set loss.kl.coef to 0 (in distill: teacher to policy)' },
  )
}
