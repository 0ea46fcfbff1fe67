/**
 * @file The training service without its wire: sessions, models, samplers, futures. What takes long is a future; what is wrong with
 * a numbered request is its future's failure, so that its number is used up and those after it do not wait.
 */

import { join } from 'node:path'
import type { EngineOptions } from '../../policy/index.ts'
import type { ForwardBackwardRequest } from '../../tinker/index.ts'
import { Checkpoints } from './checkpoints.ts'
import { type BaseModel, SamplingEngines, type TrainedShape } from './engines.ts'
import { RequestError } from './errors.ts'
import { FairQueue } from './fair-queue.ts'
import { type FutureOutcome, Futures, type Result } from './futures.ts'
import type { TinkerLimits } from './limits.ts'
import type { Model } from './model.ts'
import { idOfSampler, SamplerRequests } from './sampler-requests.ts'
import { Sampling } from './sampling.ts'
import { Sessions } from './sessions.ts'
import { Snapshots } from './snapshots.ts'
import { ServedTraining } from './training.ts'
import type {
  CreateModelRequest,
  LoadWeightsRequest,
  OptimStepRequest,
  SaveForSamplerRequest,
  SaveWeightsRequest,
} from './wire.ts'

export interface ServiceOptions {
  bases: readonly BaseModel[]
  /** Folder of what survives the server: models' names and their checkpoints. */
  state: string
  engine: EngineOptions
  limits: TinkerLimits
  /** Throws where the state may be another process's by now. */
  assertOurs?: () => void
  /** Called with what is worth a line. */
  onEvent?: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

/** A numbered request of a model. */
interface Numbered {
  model_id: string
  seq_id: number
}

const json = (body: Readonly<Record<string, unknown>>): Result => ({ kind: 'json', body })

/** How often what has expired is looked for. */
const SWEEP_MS = 5_000

export class TinkerService {
  readonly sessions = new Sessions()
  readonly checkpoints: Checkpoints
  readonly training: ServedTraining
  readonly sampling: Sampling
  readonly futures: Futures
  readonly samplers: SamplerRequests
  readonly queue = new FairQueue()
  readonly #options: ServiceOptions
  readonly #snapshots: Snapshots
  readonly #engines: SamplingEngines
  readonly #sweeping: NodeJS.Timeout

  /** @throws CheckpointError for a state folder that cannot be read */
  constructor(options: ServiceOptions) {
    const { bases, state, engine, limits, onEvent = () => {} } = options
    this.#options = options
    this.checkpoints = new Checkpoints(state, {
      onDamaged: (path, why) => onEvent('damaged', { path, why }),
      assertOurs: options.assertOurs,
    })
    this.#snapshots = new Snapshots(join(state, 'snapshots'), limits.snapshotBytes)
    this.#engines = new SamplingEngines(engine, this.#snapshots)
    this.training = new ServedTraining(
      {
        ...{ bases, engine, mostModels: limits.models, mostRank: limits.rank, gapMs: limits.gapMs },
        onSkipped: (model, missing, next) => onEvent('skipped', { model, missing, next }),
        makeRoom: () => this.#expire(limits.quietMs),
      },
      {
        ...{ checkpoints: this.checkpoints, snapshots: this.#snapshots },
        ...{ engines: this.#engines, queue: this.queue },
      },
    )
    this.sampling = new Sampling(this.#engines, this.queue, engine.maxRows ?? 64)
    this.futures = new Futures({
      mostPending: limits.pending,
      keptMs: limits.resultMs,
      unfetchedMs: limits.sessionMs,
      onFailure: error => onEvent('failed', { error: error instanceof Error ? error.stack : String(error) }),
    })
    this.samplers = new SamplerRequests(this)
    this.#sweeping = setInterval(() => this.sweep(), SWEEP_MS)
    this.#sweeping.unref()
  }

  get bases(): readonly BaseModel[] {
    return this.#options.bases
  }

  openSession(): string {
    this.futures.assertOpen()
    return this.sessions.open().id
  }

  /** A future of a model's request, in the order of its numbers. @throws RequestError */
  #numbered(
    { model_id, seq_id }: Numbered,
    digest: string,
    work: (model: Model) => Promise<Result>,
  ): { id: string; modelId: string } {
    const model = this.training.of(model_id)
    this.futures.assertOpen()
    model.usedAt = new Date()
    this.sessions.touch(model.sessionId)
    const id = model.order.take(seq_id, digest, turn =>
      this.futures.create(
        model.sessionId,
        turn(() => work(model)),
      ),
    )
    return { id, modelId: model.id }
  }

  /** @returns id of a future of `{model_id}` */
  createModel(request: CreateModelRequest, digest: string): string {
    const session = this.sessions.of(request.session_id)
    return this.sessions.once(session, `model ${request.model_seq_id}`, digest, () =>
      this.futures.begin(session.id, async () => {
        const base = this.training.base(request.base_model)
        const lora = this.training.loraOf(request.lora_config)
        const model = await this.#create(session.id, { base, lora }, request)
        return json({ ...infoOf(model), type: 'create_model' })
      }),
    )
  }

  async #create(
    sessionId: string,
    shape: TrainedShape,
    {
      model_seq_id,
      user_metadata,
      lora_config,
    }: Partial<Pick<CreateModelRequest, 'user_metadata' | 'lora_config'>> &
      Pick<LoadWeightsRequest, 'model_seq_id'>,
  ): Promise<Model> {
    // As the hosted service names them: later SDKs know the name before they are told.
    const id = `${sessionId}:train:${model_seq_id ?? 0}`
    const seed = lora_config?.seed ?? undefined
    const metadata = user_metadata ?? undefined
    const model = await this.training.create(sessionId, shape, { id, seed, metadata })
    // Its session may have ended meanwhile; then nobody would unload it.
    if (!this.sessions.has(sessionId)) await this.training.unload(id)
    return model
  }

  unloadModel(modelId: string): { id: string; modelId: string } {
    const { sessionId } = this.training.of(modelId)
    const id = this.futures.begin(sessionId, async () => {
      await this.training.unload(modelId)
      return json({ model_id: modelId, type: 'unload_model' })
    })
    return { id, modelId }
  }

  compute(request: ForwardBackwardRequest, digest: string) {
    return this.#numbered({ model_id: request.modelId, seq_id: request.seqId }, digest, model =>
      model.compute(request, this.queue),
    )
  }

  step(request: OptimStepRequest, digest: string) {
    return this.#numbered(request, digest, model => model.step(request, this.queue))
  }

  saveWeights(request: SaveWeightsRequest, digest: string) {
    return this.#numbered(request, digest, async model => {
      const path = await this.training.saveState(model, {
        name: request.path ?? `seq${request.seq_id}`,
        overwrite: request.overwrite ?? false,
        ...(request.ttl_seconds && { ttlS: request.ttl_seconds }),
      })
      return json({ path, type: 'save_weights' })
    })
  }

  /** Under a name, or without one as a sampling session of the model's own. */
  saveForSampler(request: SaveForSamplerRequest, digest: string) {
    return this.#numbered(request, digest, async model => {
      const type = 'save_weights_for_sampler'
      if (request.path) {
        const ttlS = request.ttl_seconds ?? undefined
        const path = await this.training.saveSampler(model, { name: request.path, ttlS })
        return json({ path, sampling_session_id: null, type })
      }
      const id = await this.training.snapshot(model)
      const weights = { kind: 'snapshot', id } as const
      const sampler = this.sampling.open(model.sessionId, {
        ...{ shape: model.shape, weights },
        ...idOfSampler(model.sessionId, request.sampling_session_seq_id),
      })
      return json({ path: null, sampling_session_id: sampler.id, type })
    })
  }

  /** Into a model, or into a new one of the checkpoint's shape. */
  loadWeights(request: LoadWeightsRequest, digest: string): { id: string; modelId?: string } {
    const optimizer = request.optimizer ?? false
    if (request.model_id)
      return this.#numbered({ model_id: request.model_id, seq_id: request.seq_id }, digest, async model => {
        await this.training.load(model, request.path, optimizer)
        return json({ path: request.path, model_id: model.id, type: 'load_weights' })
      })
    if (!request.session_id) throw new RequestError(422, 'load_weights: expected model_id or session_id')
    const session = this.sessions.of(request.session_id)
    const id = this.sessions.once(session, `model ${request.model_seq_id ?? 0}`, digest, () =>
      this.futures.begin(session.id, async () => {
        const shape = this.training.shapeOf(this.checkpoints.find(request.path), request.base_model)
        const model = await this.#create(session.id, shape, request)
        await this.training.load(model, request.path, optimizer)
        return json({ path: request.path, model_id: model.id, type: 'load_weights' })
      }),
    )
    return { id }
  }

  /** See `Futures.outcome`. */
  outcome(id: string, signal?: AbortSignal): Promise<FutureOutcome | null> {
    return this.futures.outcome(id, this.#options.limits.holdMs, signal)
  }

  /** Ends what belongs to clients that have not been heard of, and lets go of what was fetched. */
  sweep(): void {
    this.futures.sweep()
    this.checkpoints.sweep()
    void this.#expire(this.#options.limits.sessionMs)
  }

  async #expire(afterMs: number): Promise<void> {
    for (const { id } of this.sessions.expire(afterMs)) {
      this.#options.onEvent?.('session-expired', { session: id })
      await this.#end(id).catch(error =>
        this.#options.onEvent?.('session-not-ended', { session: id, error: String(error) }),
      )
    }
  }

  /** Ends a session whose client says that it is done. @throws RequestError 404 */
  async endSession(id: string): Promise<void> {
    this.sessions.end(id)
    await this.#end(id)
  }

  async #end(sessionId: string): Promise<void> {
    for (const { weights } of this.sampling.drop(sessionId))
      if (weights.kind === 'snapshot') this.#snapshots.delete(weights.id)
    await Promise.all(this.training.ofSession(sessionId).map(({ id }) => this.training.unload(id)))
    this.futures.drop(sessionId)
  }

  /** Models whose last updates could not be saved when it was told to stop: they are lost. */
  unsaved = 0

  /** Takes nothing new; resolves when all that was taken is done, and what was learnt is saved. */
  async drain(): Promise<void> {
    this.futures.refuseNew()
    await this.futures.settled()
    const { onEvent = () => {} } = this.#options
    const paths = await this.training.saveUnsaved((model, error) => {
      this.unsaved++
      onEvent('not-saved', { model, error: String(error) })
    })
    for (const path of paths) onEvent('saved', { path })
  }

  /** Tells of the models that are lost where `drain` does not come to its end. */
  abandon(): void {
    for (const { id } of this.training.unsaved()) {
      this.unsaved++
      this.#options.onEvent?.('not-saved', { model: id, error: 'what was asked before was not done in time' })
    }
  }

  async close(): Promise<void> {
    this.futures.refuseNew()
    clearInterval(this.#sweeping)
    await this.training.close()
    await this.#engines.close()
  }
}

/** What clients are told of a model's shape. */
export const infoOf = ({ id, shape: { base, lora } }: Pick<Model, 'id' | 'shape'>) => ({
  model_id: id,
  base_model: base.name,
  is_lora: lora !== null,
  lora_rank: lora?.rank ?? null,
  ...(lora && { lora_config: { rank: lora.rank, alpha: lora.alpha, ...trainedParts(lora) } }),
})

/** Which parts have an adapter; the unembedding never has. */
export const trainedParts = (lora: TrainedShape['lora']) => ({
  train_attn: lora === null || lora.targetModules.includes('q_proj'),
  train_mlp: lora === null || lora.targetModules.includes('up_proj'),
  train_unembed: lora === null,
})
