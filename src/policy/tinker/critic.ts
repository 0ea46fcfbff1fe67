/**
 * @file A critic on a training service that offers one: a second model there, with a value head, which the loss `ppo_critic` trains.
 *
 * Only SkyRL has it (a9564572e: `skyrl/tinker/api.py`, `skyrl/backends/skyrl_train_backend.py`), on its FSDP backend. `create_model`
 * takes `model_role: critic`, once, after a policy was made. Forward gives `values`, one a position. The loss reads `values` (of before
 * the update), `returns` and `weights`: half the larger of the squared errors with and without the clip, its mean over a sequence's
 * tokens, then over sequences. What the optimiser step heeds is the learning rate alone.
 */

import type { Datum } from '../../rl/datum.ts'
import {
  chunksOf,
  deleteStored,
  TinkerError,
  type TinkerSession,
  TrainingClient,
  type WireDatum,
} from '../../tinker/index.ts'
import { DataError } from '../../util/errors.ts'
import type {
  BatchStats,
  CriticModel,
  Policy,
  ScoreItem,
  StepOptions,
  StepStats,
  TokenScores,
} from '../policy.ts'
import { freshName, lostState, readableReference, savedState, writeReference } from './checkpoint.ts'
import { responseValues, scoredDatum, wireDatum } from './data.ts'
import { adamOf, inGoodTime, type TinkerOptions } from './open-training.ts'

const LOSS = 'ppo_critic'
/** The server has a clip of its own where nothing is said. */
const NEVER_CLIPPED = 1e9
/** What the server calls the loss of a batch; of several requests the sum of their means. */
const LOSS_METRIC = 'critic_loss:sum'

/** What becomes of a refusal: what a run can do without a critic. */
const noCritic = (error: unknown, origin: string): unknown =>
  error instanceof TinkerError && ['refused', 'failed', 'malformed'].includes(error.kind)
    ? new TinkerError(
        'refused',
        `critic: expected one from ${origin} (${LOSS}), got none: ${error.message}`,
        {
          hint: `set critic to null: a reward is then compared with those of its group, in place of PPO; or train with policy.kind local. SkyRL's FSDP backend offers a critic, one at a time`,
          cause: error,
        },
      )
    : error

const wireDatumOf = (datum: Datum, i: number): WireDatum => {
  const { mask, returns, oldValues } = datum
  if (!returns || !oldValues)
    throw new DataError(`datum ${i}: a critic needs returns and oldValues, got none`, {
      hint: 'credit the rollouts by the critic first',
    })
  const masked = (of: (t: number) => number) => Float32Array.from(mask, (m, t) => (m === 0 ? 0 : of(t)))
  return wireDatum(datum, {
    weights: masked(() => 1),
    values: masked(t => oldValues[t]),
    returns: masked(t => returns[t]),
  })
}

export class ServerCritic implements CriticModel {
  readonly #client: TrainingClient
  readonly #options: Pick<TinkerOptions, 'url' | 'model' | 'lora'>
  #steps = 0

  private constructor(client: TrainingClient, options: TinkerOptions) {
    this.#client = client
    this.#options = options
  }

  /** Has one made beside a policy of the same session. @throws TinkerError where the server makes none */
  static async create(
    session: TinkerSession,
    options: TinkerOptions,
    isIdempotent: boolean,
  ): Promise<ServerCritic> {
    const { model, lora, dialect } = options
    const client = await TrainingClient.create(session, model, lora, dialect, 'critic').catch(error => {
      throw noCritic(error, session.connection.origin)
    })
    client.isIdempotent = isIdempotent
    return new ServerCritic(client, options)
  }

  /** A server that does not know of roles has made a second policy. */
  async assertThere(): Promise<void> {
    await this.score([{ promptTokens: [1], tokens: [1] }]).catch(error => {
      throw noCritic(error, this.#client.session.connection.origin)
    })
  }

  async score(items: readonly ScoreItem[]): Promise<Pick<TokenScores, 'values'>[]> {
    const live = items.filter(({ tokens }) => tokens.length > 0)
    const { result } = this.#client.forward(live.map(scoredDatum), LOSS)
    const values = live.length === 0 ? [] : responseValues(await result, live)
    const own = new Map(live.map((item, i) => [item, values[i]]))
    return items.map(item => ({ values: own.get(item) ?? new Float32Array() }))
  }

  /** The loss is averaged as the server does it, whatever the aggregation says. */
  refuses: Policy['refuses'] = () => null

  accumulate: Policy['accumulate'] = async (datums, { loss: { value } }): Promise<BatchStats> => {
    const learnt = datums.filter(({ mask }) => mask.some(m => m !== 0))
    if (learnt.length === 0)
      throw new DataError("accumulate: expected a datum with tokens of the policy's, got none")
    const data = learnt.map(wireDatumOf)
    const clip = { value_clip: value?.clip ?? NEVER_CLIPPED }
    const { metrics } = await this.#client.forwardBackward(data, LOSS, clip).result
    const error =
      metrics[LOSS_METRIC] === undefined ? undefined : metrics[LOSS_METRIC] / chunksOf(data).length
    const tokens = learnt.reduce((sum, { mask }) => sum + mask.filter(m => m !== 0).length, 0)
    return { loss: (value?.coef ?? 0) * (error ?? 0), tokens, parts: { value: error } }
  }

  async step(options: StepOptions): Promise<StepStats> {
    await this.#client.optimStep(adamOf(options)).result
    this.#steps++
    return {}
  }

  /** The state is the server's; the folder names it. Without the optimiser there is nothing to keep: nobody samples from a critic. */
  async save(folder: string): Promise<void> {
    const { url, model, lora } = this.#options
    const state = await this.#client.saveState(freshName(`critic-${String(this.#steps).padStart(6, '0')}`))
    writeReference(folder, { url, model, rank: lora.rank, steps: this.#steps, state, sampler: null })
  }

  async load(folder: string): Promise<void> {
    const { model, lora } = this.#options
    const saved = savedState(folder, { model, rank: lora.rank })
    await this.#client.load(saved.state, true).catch(error => {
      throw lostState(error, saved)
    })
    this.#steps = saved.steps
  }

  forget(folder: string): () => Promise<void> {
    const state = readableReference(folder)?.state ?? null
    return async () => {
      if (state !== null)
        await deleteStored(this.#client.session.connection, state, 'weights').catch(() => {})
    }
  }

  close(): Promise<void> {
    return inGoodTime([this.#client.unload()])
  }
}
