/** @file A policy that is elsewhere: a LoRA in training on a server of the Tinker protocol. Sends tokens, hears log-probs. */

import { join } from 'node:path'
import { stopTokensOf } from '../../model/chat-format.ts'
import { loadConfig } from '../../model/checkpoint.ts'
import { hasTokenizer, loadTokenizer, type Tokenizer } from '../../model/tokenizer.ts'
import {
  type Connection,
  deleteStored,
  fetchStored,
  SamplingClient,
  TinkerError,
  type TinkerSession,
  TrainingClient,
} from '../../tinker/index.ts'
import { UsageError } from '../../util/errors.ts'
import type {
  LogprobOptions,
  Policy,
  Sample,
  SampledToken,
  SampleRequest,
  ScoreItem,
  StepOptions,
  StepStats,
  TokenScores,
} from '../policy.ts'
import { type AdapterFiles, writeAdapter } from './adapter-sampler.ts'
import {
  ADAPTER_FOLDER,
  freshName,
  lostState,
  readableReference,
  savedState,
  writeReference,
} from './checkpoint.ts'
import { ServerCritic } from './critic.ts'
import { responseLogprobs, scoredDatum } from './data.ts'
import { type Normalisation, tinkerRefusal } from './losses.ts'
import { adamOf, inGoodTime, type OpenTraining, openTraining, type TinkerOptions } from './open-training.ts'
import { ReferenceModel } from './reference.ts'
import { sampleGroups } from './sampling.ts'
import { assertTemperature, ServerGradient } from './server-gradient.ts'

/** Names under which servers tell the norm of a step's gradient. */
const GRADIENT_NORM = /grad(ient)?_?(norm|l2)/i

/**
 * Gradients, optimiser and weights stay at the server. Requests of learning are submitted in the order of the calls, without
 * waiting for the results of those before; a step waits for samples that are on their way, because some servers sample from
 * weights that go on changing.
 */
export class TinkerPolicy implements Policy {
  readonly normalisation: Normalisation
  readonly #options: TinkerOptions
  readonly #session: TinkerSession
  readonly #client: TrainingClient
  readonly #gradient: ServerGradient
  /** All requests of learning so far have been submitted. */
  #learning: Promise<unknown> = Promise.resolve()
  /** Samples on their way; it says nothing, or it would hold those of the whole run. */
  #sampling: Promise<unknown> = Promise.resolve()
  #sampler: Promise<SamplingClient> | null = null
  #reference: ReferenceModel | null = null
  #tokenizer: Tokenizer | null | undefined
  #steps = 0
  /** The adapter is as it was made: its model is the base. */
  #isFresh = true

  private constructor(options: TinkerOptions, { session, client, normalisation }: OpenTraining) {
    this.#options = options
    this.#session = session
    this.#client = client
    this.normalisation = normalisation
    this.#gradient = new ServerGradient(client, normalisation, work => this.#inOrder(work))
  }

  /** See `openTraining`. */
  static async start(options: TinkerOptions): Promise<TinkerPolicy> {
    return new TinkerPolicy(options, await openTraining(options))
  }

  /** Optimiser steps that were submitted. */
  get steps(): number {
    return this.#steps
  }

  /** Requests sent so far, repetitions included. */
  get requests(): number {
    return this.#session.connection.sent
  }

  /** Has work submitted after all that was submitted before it. */
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#learning.then(work)
    this.#learning = done.catch(() => {})
    return done
  }

  sample(
    request: SampleRequest,
    onSample?: (sample: Sample) => void,
    onToken?: (token: SampledToken) => void,
  ): Promise<Sample[]> {
    const parts = {
      concurrency: this.#options.concurrency ?? 32,
      stopTokens: request.stopTokens ?? this.stopTokens,
      tokenizer: () => this.#tokenizerOf(),
    }
    const samples = this.#newest().then(client => sampleGroups(client, request, parts, onSample, onToken))
    this.#sampling = Promise.allSettled([this.#sampling, samples]).then(() => {})
    return samples
  }

  /** A sampling session of the newest weights. */
  #newest(): Promise<SamplingClient> {
    this.#sampler ??= this.#inOrder(async () => {
      const snapshot = await this.#client.snapshot()
      return 'sessionId' in snapshot
        ? new SamplingClient(this.#session, snapshot.sessionId)
        : SamplingClient.open(this.#session, { modelPath: snapshot.path })
    })
    const sampler = this.#sampler
    sampler.catch(() => {
      if (this.#sampler === sampler) this.#sampler = null
    })
    return sampler
  }

  #tokenizerOf(): Tokenizer | null {
    const { folder } = this.#options
    this.#tokenizer ??= folder && hasTokenizer(folder) ? loadTokenizer(folder) : null
    return this.#tokenizer
  }

  /** What ends a sample where nothing else is said: as the model's folder has it. */
  get stopTokens(): readonly number[] {
    const { folder } = this.#options
    return folder ? stopTokensOf(loadConfig(folder), { eosId: this.#tokenizerOf()?.eosId ?? null }) : []
  }

  async score(items: readonly ScoreItem[], options: LogprobOptions = {}): Promise<TokenScores[]> {
    assertTemperature(options.temperature)
    const live = items.filter(({ tokens }) => tokens.length > 0)
    const logprobs = live.length === 0 ? [] : await this.#logprobs(live, options.weights ?? 'current')
    const own = new Map(live.map((item, i) => [item, logprobs[i]]))
    return items.map(item => ({ logprobs: own.get(item) ?? new Float32Array() }))
  }

  async #logprobs(items: readonly ScoreItem[], weights: LogprobOptions['weights']): Promise<Float32Array[]> {
    if (weights === 'reference') {
      if (this.#reference) return this.#reference.logprobs(items)
      throw new UsageError('score: expected a reference that was frozen before, got none', {
        hint: 'call freezeReference first',
      })
    }
    const request = await this.#inOrder(async () => {
      this.#gradient.assertWhole()
      const { submitted, result } = this.#client.forward(items.map(scoredDatum), 'cross_entropy')
      await submitted
      return { result }
    })
    return responseLogprobs(await request.result, items)
  }

  refuses: Policy['refuses'] = loss => tinkerRefusal(loss)

  accumulate: Policy['accumulate'] = (datums, options) => this.#gradient.accumulate(datums, options)

  async step({ gradient: _, ...options }: StepOptions): Promise<StepStats> {
    this.#sampler = null
    const { result } = await this.#inOrder(async () => {
      this.#gradient.assertWhole()
      await this.#sampling
      this.#gradient.use()
      this.#isFresh = false
      const request = this.#client.optimStep(adamOf(options))
      await request.submitted
      this.#steps++
      return { result: request.result }
    })
    const metrics = await result
    const name = Object.keys(metrics).find(key => GRADIENT_NORM.test(key))
    return name === undefined ? {} : { gradNorm: metrics[name] }
  }

  /** A critic beside it, where the server offers one. @throws TinkerError where it makes none */
  createCritic(): Promise<ServerCritic> {
    return ServerCritic.create(this.#session, this.#options, this.#client.isIdempotent)
  }

  async freezeReference(): Promise<void> {
    await this.#reference?.close()
    this.#reference = await this.#inOrder(async () => {
      const { model, lora, dialect } = this.#options
      if (this.#isFresh) return ReferenceModel.ofBase(this.#session, model)
      const path = await this.#client.saveState(freshName('reference'))
      const create = () => TrainingClient.create(this.#session, model, lora, dialect)
      const reference = await ReferenceModel.ofState(this.#session, path, create)
      // It lives in a model of its own from here on; what stays of it on the server's disk only takes room.
      await deleteStored(this.#session.connection, path, 'weights').catch(() => {})
      return reference
    })
  }

  /**
   * The adapter as it is after all that was asked before, and the optimiser steps that it has taken.
   * @throws TinkerError where the server hands none out
   */
  async fetchAdapter(): Promise<{ files: AdapterFiles; steps: number }> {
    const { connection } = this.#session
    const { path, steps } = await this.#inOrder(async () => ({
      path: await this.#client.saveSampler(freshName('adapter')),
      steps: this.#steps,
    }))
    return { files: await takeAdapter(connection, path), steps }
  }

  async save(
    folder: string,
    { optimizer = true, last = false }: { optimizer?: boolean; last?: boolean } = {},
  ): Promise<void> {
    const sampler = await this.#saveThere(folder, optimizer)
    const { download = 'last' } = this.#options
    if (download === 'never' || (download === 'last' && !last)) return
    // The server has the checkpoint: a copy that cannot be had is no reason to lose it here.
    const files = await fetchStored(this.#session.connection, sampler).catch(() => null)
    if (files !== null) writeAdapter(join(folder, ADAPTER_FOLDER), files)
  }

  /** @returns the server's name for the weights to sample from */
  #saveThere(folder: string, optimizer: boolean): Promise<string> {
    return this.#inOrder(async () => {
      this.#gradient.assertWhole()
      if (!this.#gradient.isEmpty)
        throw new UsageError('save: expected no accumulated gradient, which a checkpoint does not hold', {
          hint: 'take the step first',
        })
      const name = freshName(`step-${String(this.#steps).padStart(6, '0')}`)
      const sampler = await this.#client.saveSampler(name)
      const state = optimizer ? await this.#client.saveState(name) : null
      const { model, lora, url } = this.#options
      writeReference(folder, { url, model, rank: lora.rank, steps: this.#steps, state, sampler })
      return sampler
    })
  }

  async load(folder: string): Promise<void> {
    const { model, lora } = this.#options
    const saved = savedState(folder, { model, rank: lora.rank })
    this.#sampler = null
    await this.#inOrder(async () => {
      await this.#client.load(saved.state, true).catch(error => {
        throw lostState(error, saved)
      })
      this.#gradient.renew()
      this.#isFresh = false
      this.#steps = saved.steps
    })
  }

  forget(folder: string): () => Promise<void> {
    const { state, sampler } = readableReference(folder) ?? { state: null, sampler: null }
    const { connection } = this.#session
    return async () => {
      await Promise.allSettled([
        state !== null && deleteStored(connection, state, 'weights'),
        sampler !== null && deleteStored(connection, sampler, 'sampler_weights'),
      ])
    }
  }

  /** Lets the server forget the model, as far as it can be had; checkpoints stay. */
  async close(): Promise<void> {
    await inGoodTime([this.#reference?.close(), this.#client.unload()])
    this.#session.close()
    await this.#session.connection.close()
  }
}

/** Weights to sample from, which are not kept at the server. @throws TinkerError where it hands none out */
const takeAdapter = async (connection: Connection, path: string): Promise<AdapterFiles> => {
  const files = await fetchStored(connection, path)
  await deleteStored(connection, path, 'sampler_weights').catch(() => {})
  if (files !== null) return files
  throw new TinkerError(
    'refused',
    `${connection.origin}: expected an archive of the adapter, which policy.sampler is to sample from, got none`,
    { hint: 'set policy.sampler to null: the training service then samples itself' },
  )
}
