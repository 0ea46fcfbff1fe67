/** @file Engines that only sample: one for each shape of model, given the weights that a request names before it computes. */

import type { ModelConfig } from '../../model/config.ts'
import type { LoraConfig } from '../../model/lora-files.ts'
import { type EngineOptions, LocalPolicy } from '../../policy/index.ts'
import type { Snapshots } from './snapshots.ts'

/** A model that is served: what is trained, and sampled from as it is. */
export interface BaseModel {
  name: string
  folder: string
  config: ModelConfig
}

/** What is trained of a base model; models of one shape can take each other's weights. Null: all of it. */
export interface TrainedShape {
  base: BaseModel
  lora: LoraConfig | null
}

/** Weights that stay as they are: those of the base model, of a snapshot, of a folder with a checkpoint. */
export type FixedWeights =
  | { kind: 'base' }
  | { kind: 'snapshot'; id: string }
  | { kind: 'folder'; folder: string; savedAt: string }

/**
 * A fresh adapter adds exactly nothing to its base. With the smallest one the base lies in plain memory, where otherwise
 * gradient and moments would lie beside it.
 */
const NOTHING_ADDED: LoraConfig = { rank: 1, alpha: 1, targetModules: ['q_proj'] }

/** Engines that are kept. */
const MOST_ENGINES = 4

interface Engine {
  policy: LocalPolicy
  /** Which weights it has now. */
  weights: string
}

const keyOfShape = ({ base, lora }: TrainedShape, weights: FixedWeights): string =>
  JSON.stringify([base.folder, weights.kind === 'base' ? 'base' : lora])

const keyOfWeights = (weights: FixedWeights): string => JSON.stringify(weights)

export class SamplingEngines {
  readonly #options: EngineOptions
  readonly #snapshots: Snapshots
  /** The one used last stands last. */
  readonly #engines = new Map<string, Engine>()

  constructor(options: EngineOptions, snapshots: Snapshots) {
    this.#options = options
    this.#snapshots = snapshots
  }

  /**
   * An engine with these weights. One caller at a time: the next one may give it others.
   * @throws CheckpointError for weights that are gone or do not fit
   */
  async with(shape: TrainedShape, weights: FixedWeights): Promise<LocalPolicy> {
    const engine = await this.#engine(shape, weights)
    const wanted = keyOfWeights(weights)
    if (engine.weights === wanted) return engine.policy
    // Half of them would be neither.
    engine.weights = 'none'
    if (weights.kind === 'snapshot') await engine.policy.takeWeights(this.#snapshots.get(weights.id))
    else if (weights.kind === 'folder') await engine.policy.load(weights.folder, { optimizer: false })
    engine.weights = wanted
    return engine.policy
  }

  async #engine(shape: TrainedShape, weights: FixedWeights): Promise<Engine> {
    const key = keyOfShape(shape, weights)
    const known = this.#engines.get(key)
    const isBase = weights.kind === 'base'
    const lora = isBase ? NOTHING_ADDED : shape.lora
    const engine = known ?? {
      policy: await LocalPolicy.start({ folder: shape.base.folder, ...(lora && { lora }) }, this.#options),
      weights: isBase ? keyOfWeights(weights) : 'none',
    }
    this.#engines.delete(key)
    this.#engines.set(key, engine)
    if (!known) {
      // An engine that has ended, for whatever reason, is started anew.
      void engine.policy.ended.then(() => {
        if (this.#engines.get(key) === engine) this.#engines.delete(key)
      })
      await this.#letGo()
    }
    return engine
  }

  async #letGo(): Promise<void> {
    while (this.#engines.size > MOST_ENGINES) {
      const [[key, { policy }]] = this.#engines
      this.#engines.delete(key)
      await policy.close()
    }
  }

  async close(): Promise<void> {
    const engines = [...this.#engines.values()]
    this.#engines.clear()
    await Promise.all(engines.map(({ policy }) => policy.close()))
  }
}
