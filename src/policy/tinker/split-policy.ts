/** @file A policy that learns on a training service and samples on an inference server of its own. */

import type { Policy } from '../policy.ts'
import type { AdapterSampler } from './adapter-sampler.ts'
import type { TinkerPolicy } from './tinker-policy.ts'

/**
 * What is learnt reaches the inference server in `syncWeights` and `load`, at no other time: the adapter is fetched from the one
 * server and loaded by the other. Optimiser, reference, scores and checkpoints are the training service's.
 */
export class SplitPolicy implements Policy {
  readonly #trainer: TinkerPolicy
  readonly #sampler: AdapterSampler
  /** Whether the service may have weights that the inference server lacks. */
  #behind = true
  #syncing: Promise<void> = Promise.resolve()

  private constructor(trainer: TinkerPolicy, sampler: AdapterSampler) {
    this.#trainer = trainer
    this.#sampler = sampler
  }

  /**
   * Takes both over, and brings the adapter to the inference server once: that it can be fetched and loaded is known before
   * anything is spent.
   * @throws TinkerError where the service hands no adapter out; ServedError where the server does not load it; both are closed then
   */
  static async start(trainer: TinkerPolicy, sampler: AdapterSampler): Promise<SplitPolicy> {
    const policy = new SplitPolicy(trainer, sampler)
    try {
      await policy.syncWeights()
      return policy
    } catch (error) {
      await policy.close()
      throw error
    }
  }

  /** Optimiser steps taken; samples say those of their own weights. */
  get version(): number {
    return this.#trainer.steps
  }

  sample: Policy['sample'] = (request, ...rest) =>
    this.#sampler.sample({ ...request, stopTokens: request.stopTokens ?? this.#trainer.stopTokens }, ...rest)

  score: Policy['score'] = (items, options) =>
    (options?.weights === 'sampling' ? this.#sampler : this.#trainer).score(items, options)

  refuses: Policy['refuses'] = loss => this.#trainer.refuses(loss)

  accumulate: Policy['accumulate'] = (datums, options) => this.#trainer.accumulate(datums, options)

  step: Policy['step'] = options => {
    this.#behind = true
    return this.#trainer.step(options)
  }

  /** Called during a step, it waits for it. */
  syncWeights(): Promise<void> {
    if (!this.#behind) return this.#syncing
    this.#behind = false
    this.#syncing = this.#syncing.catch(() => {}).then(() => this.#bring())
    this.#syncing.catch(() => {
      this.#behind = true
    })
    return this.#syncing
  }

  async #bring(): Promise<void> {
    const { files, steps } = await this.#trainer.fetchAdapter()
    await this.#sampler.take(files, steps)
  }

  freezeReference: Policy['freezeReference'] = () => this.#trainer.freezeReference()

  save: Policy['save'] = (folder, options) => this.#trainer.save(folder, options)

  async load(folder: string): Promise<void> {
    this.#behind = true
    await this.#trainer.load(folder)
    await this.syncWeights()
  }

  forget: TinkerPolicy['forget'] = folder => this.#trainer.forget(folder)

  async close(): Promise<void> {
    await Promise.all([this.#sampler.close(), this.#trainer.close()])
  }
}
