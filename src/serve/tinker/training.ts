/** @file Models in training: made, found, taken away; saved under names, and loaded again. */

import { type LoraConfig, type LoraModule, loraModules } from '../../model/lora-files.ts'
import type { EngineOptions } from '../../policy/index.ts'
import { type CheckpointKind, type Checkpoints, type StoredCheckpoint, tinkerPath } from './checkpoints.ts'
import type { BaseModel, FixedWeights, SamplingEngines, TrainedShape } from './engines.ts'
import { RequestError } from './errors.ts'
import type { FairQueue } from './fair-queue.ts'
import { Model } from './model.ts'
import type { Snapshots } from './snapshots.ts'
import type { LoraRequest } from './wire.ts'

export interface TrainingOptions {
  bases: readonly BaseModel[]
  engine: EngineOptions
  /** Models at a time; each has the base model's weights and its optimiser's state in memory. */
  mostModels: number
  mostRank: number
  /** See `InOrder`. */
  gapMs: number
  onSkipped?: (model: string, missing: number, next: number) => void
  /** Ends models that nobody will miss, when there are as many as there may be. */
  makeRoom?: () => Promise<void>
}

/** Of every adapter, whatever its rank, as at the hosted service and SkyRL. */
const LORA_ALPHA = 32

/** Checkpoints of models that were in training when the server was stopped. */
const STOPPED = { name: 'stopped', overwrite: true, ttlS: 7 * 24 * 3600 }

const ATTENTION = loraModules.filter(name => /^[qkvo]_proj$/.test(name))
const MLP = loraModules.filter(name => !ATTENTION.includes(name))

export class ServedTraining {
  readonly #options: TrainingOptions
  readonly #models = new Map<string, Model>()
  /** Models that are being made. */
  #coming = 0
  readonly #checkpoints: Checkpoints
  readonly #snapshots: Snapshots
  readonly #engines: SamplingEngines
  readonly #queue: FairQueue

  constructor(
    options: TrainingOptions,
    parts: { checkpoints: Checkpoints; snapshots: Snapshots; engines: SamplingEngines; queue: FairQueue },
  ) {
    this.#options = options
    this.#checkpoints = parts.checkpoints
    this.#snapshots = parts.snapshots
    this.#engines = parts.engines
    this.#queue = parts.queue
  }

  get size(): number {
    return this.#models.size
  }

  find(id: string): Model | undefined {
    return this.#models.get(id)
  }

  /** @throws RequestError 404 */
  of(id: string): Model {
    const model = this.#models.get(id)
    if (model) return model
    throw new RequestError(404, `Model not found: ${id}`, {
      hint: 'the server was started anew, or the session has ended; make a model and load a checkpoint',
    })
  }

  ofSession(sessionId: string): Model[] {
    return [...this.#models.values()].filter(model => model.sessionId === sessionId)
  }

  /** @throws RequestError 404 for a model that is not served */
  base(name: string): BaseModel {
    const base = this.#options.bases.find(one => one.name === name)
    if (base) return base
    const names = this.#options.bases.map(one => one.name).join(', ')
    throw new RequestError(404, `base_model: expected one of ${names}, got ${name}`)
  }

  /**
   * What a client asks to be trained: an adapter, or all weights where the rank is 0 or none is said.
   * @throws RequestError for a rank beyond the limit, or nothing to train
   */
  loraOf(lora: LoraRequest | null | undefined): LoraConfig | null {
    if (!lora || lora.rank === 0) return null
    const { mostRank } = this.#options
    if (lora.rank > mostRank)
      throw new RequestError(422, `LoRA rank ${lora.rank} must be between 1 and ${mostRank}`)
    const targetModules: LoraModule[] = [
      ...(lora.train_attn === false ? [] : ATTENTION),
      ...(lora.train_mlp === false ? [] : MLP),
    ]
    if (targetModules.length === 0)
      throw new RequestError(422, 'lora_config: expected train_attn or train_mlp, got neither', {
        hint: 'the unembedding has no adapter here',
      })
    return { rank: lora.rank, alpha: LORA_ALPHA, targetModules }
  }

  /**
   * Loads a model of that shape, fresh.
   * @throws RequestError where there are too many
   */
  async create(
    sessionId: string,
    shape: TrainedShape,
    { id, seed, metadata }: { id: string; seed?: number; metadata?: Record<string, unknown> },
  ): Promise<Model> {
    const { mostModels, engine, gapMs, onSkipped, makeRoom } = this.#options
    if (this.#models.size + this.#coming >= mostModels) await makeRoom?.()
    if (this.#models.size + this.#coming >= mostModels)
      throw new RequestError(422, `Maximum number of models (${mostModels}) reached; unload one`, {
        hint: 'clients that ended without a word hold theirs for a minute (limit quietMs); the limit models says how many there may be',
      })
    this.#coming++
    try {
      const order = { gapMs, onSkipped: (missing: number, next: number) => onSkipped?.(id, missing, next) }
      const model = await this.#queue.run(sessionId, () =>
        Model.start({ id, sessionId, shape }, { engine, order, seed }),
      )
      this.#models.set(id, model)
      await this.#register(model, metadata)
      return model
    } finally {
      this.#coming--
    }
  }

  /** Writes down that there is such a model; one that cannot be written down is closed. */
  async #register(
    { id, shape: { base, lora } }: Model,
    metadata: Record<string, unknown> = {},
  ): Promise<void> {
    try {
      this.#checkpoints.register({
        ...{ id, baseModel: base.name, metadata },
        lora: lora && { ...lora, targetModules: [...lora.targetModules] },
      })
    } catch (error) {
      await this.unload(id)
      throw error
    }
  }

  /** Shape of the model that a checkpoint is of. @throws RequestError where its base is not served any more */
  shapeOf({ model }: StoredCheckpoint, baseName?: string | null): TrainedShape {
    return { base: this.base(baseName ?? model.baseModel), lora: model.lora }
  }

  /** Weights and optimiser under a name. @throws RequestError 409; UsageError while a gradient waits for its step */
  async saveState(
    model: Model,
    { name, overwrite, ttlS }: { name: string; overwrite: boolean; ttlS?: number },
  ): Promise<string> {
    const path = await this.#save(model, { kind: 'weights', name, overwrite, ttlS }, folder =>
      this.#queue.run(model.sessionId, () => model.policy.save(folder)),
    )
    model.isUnsaved = false
    return path
  }

  /** Models whose last updates no checkpoint has. */
  unsaved(): Model[] {
    return [...this.#models.values()].filter(one => one.isUnsaved)
  }

  /**
   * Saves what no checkpoint has, each model under the name `stopped`, for a week. A gradient that waits for its step is dropped:
   * the step will not come any more.
   * @param onFailed called with of a model that cannot be saved; the others are
   */
  async saveUnsaved(onFailed: (id: string, error: unknown) => void): Promise<string[]> {
    const paths: string[] = []
    for (const model of this.unsaved())
      await this.#queue
        .run(model.sessionId, () => model.policy.dropGradient())
        .then(() => this.saveState(model, STOPPED))
        .then(
          path => paths.push(path),
          error => onFailed(model.id, error),
        )
    return paths
  }

  /** Weights as they are now, under an id. */
  snapshot(model: Model): Promise<string> {
    return this.#queue.run(model.sessionId, async () =>
      this.#snapshots.add(await model.policy.shareWeights()),
    )
  }

  /** Weights to sample from under a name. @throws RequestError 409 */
  async saveSampler(model: Model, { name, ttlS }: { name: string; ttlS?: number }): Promise<string> {
    const id = await this.snapshot(model)
    try {
      const weights: FixedWeights = { kind: 'snapshot', id }
      return await this.#save(model, { kind: 'sampler_weights', name, overwrite: false, ttlS }, folder =>
        // By an engine that only samples: one that trains does not save while a gradient waits for its step.
        this.#queue.run(model.sessionId, async () =>
          (await this.#engines.with(model.shape, weights)).save(folder, { optimizer: false }),
        ),
      )
    } finally {
      this.#snapshots.delete(id)
    }
  }

  async #save(
    model: Model,
    as: { kind: CheckpointKind; name: string; overwrite: boolean; ttlS?: number },
    write: (folder: string) => Promise<void>,
  ): Promise<string> {
    return tinkerPath(await this.#checkpoints.save(model.id, as, write))
  }

  /** @throws RequestError 404; CheckpointError for weights of another shape */
  async load(model: Model, path: string, optimizer: boolean): Promise<void> {
    this.#checkpoints.find(path)
    // Where it lies when its turn has come: it may be overwritten until then.
    await this.#queue.run(model.sessionId, async () =>
      model.policy.load(this.#checkpoints.find(path).folder, { optimizer }),
    )
    model.isUnsaved = false
  }

  /** @throws RequestError 404 */
  async unload(id: string): Promise<void> {
    const model = this.of(id)
    this.#models.delete(id)
    await model.close()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#models.keys()].map(id => this.unload(id)))
  }
}
