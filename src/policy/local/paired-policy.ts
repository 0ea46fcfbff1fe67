/** @file A policy of two engines with weights of their own: one samples while the other one learns. */

import type { Policy } from '../policy.ts'
import type { EngineOptions } from './engine.ts'
import { LocalPolicy } from './local-policy.ts'
import type { ModelSource } from './model-source.ts'

export interface PairedOptions {
  sampler?: EngineOptions
  trainer?: EngineOptions
}

/**
 * What the training engine learns reaches the sampling engine in `syncWeights` and `load`, at no other time. Optimiser,
 * reference and checkpoints are the training engine's. When one of the two ends, the other one is closed.
 */
export class PairedPolicy implements Policy {
  readonly #sampler: LocalPolicy
  readonly #trainer: LocalPolicy
  /** Whether the training engine may have weights that the sampling engine lacks. */
  #behind = false
  #syncing: Promise<void> = Promise.resolve()

  /** Takes over two engines that were started from the same source. */
  constructor(sampler: LocalPolicy, trainer: LocalPolicy) {
    this.#sampler = sampler
    this.#trainer = trainer
    void sampler.ended.then(reason => trainer.close(reason))
    void trainer.ended.then(reason => sampler.close(reason))
  }

  /** Starts both engines. @throws CheckpointError and others from loading; none of them is left running then. */
  static async start(source: ModelSource, { sampler, trainer }: PairedOptions = {}): Promise<PairedPolicy> {
    const started = await Promise.allSettled([
      LocalPolicy.start(source, sampler),
      LocalPolicy.start(source, trainer),
    ])
    const engines = started.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
    if (engines.length === 2) return new PairedPolicy(engines[0], engines[1])
    await Promise.all(engines.map(engine => engine.close()))
    throw started.find(result => result.status === 'rejected')!.reason
  }

  sample: Policy['sample'] = (...args) => this.#sampler.sample(...args)

  converse: LocalPolicy['converse'] = (...args) => this.#sampler.converse(...args)

  score: LocalPolicy['score'] = (items, options) =>
    (options?.weights === 'sampling' ? this.#sampler : this.#trainer).score(items, options)

  refuses: Policy['refuses'] = loss => this.#trainer.refuses(loss)

  accumulate: LocalPolicy['accumulate'] = (datums, options) => this.#trainer.accumulate(datums, options)

  step: LocalPolicy['step'] = optimizer => {
    this.#behind = true
    return this.#trainer.step(optimizer)
  }

  /** Called during a step, it waits for it: the training engine does one call after the other. */
  syncWeights(): Promise<void> {
    if (this.#behind) {
      this.#behind = false
      // What failed is tried again by the next call.
      this.#syncing = this.#syncing.catch(() => {}).then(() => this.#copyWeights())
      this.#syncing.catch(() => {
        this.#behind = true
      })
    }
    return this.#syncing
  }

  /** The memory between the engines is always the same: read to the end before it is written again. */
  async #copyWeights(): Promise<void> {
    await this.#sampler.takeWeights(await this.#trainer.shareWeights())
  }

  freezeReference: Policy['freezeReference'] = () => this.#trainer.freezeReference()

  save: Policy['save'] = (folder, options) => this.#trainer.save(folder, options)

  async load(folder: string): Promise<void> {
    this.#behind = true
    await this.#trainer.load(folder)
    await this.syncWeights()
  }

  async close(): Promise<void> {
    await Promise.all([this.#sampler.close(), this.#trainer.close()])
  }
}
