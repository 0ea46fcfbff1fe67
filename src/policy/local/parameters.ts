/** @file The weights of a model in memory: frozen ones as plain arrays, trained ones flat beside gradient and moments. */

import { createHash } from 'node:crypto'
import type { ModelConfig } from '../../model/config.ts'
import { type LoraConfig, loraScale } from '../../model/lora-files.ts'
import type { NamedTensors } from '../../model/safetensors.ts'
import { type Weights, weightInputs } from '../../model/transformer.ts'
import { refuseNonFinite } from '../../model/weights.ts'
import type { Device, DeviceValue, ExecutableOptions, Feeds } from '../../tensor/index.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { CheckpointError, UsageError } from '../../util/errors.ts'
import type { LogprobOptions, StepOptions, StepStats } from '../policy.ts'
import { constantWeights, quantizedWeights } from './constant-weights.ts'
import { DeviceWeights } from './device-weights.ts'
import { Gradient } from './gradient.ts'
import { type LoadedSource, loadSource, type ModelSource } from './model-source.ts'
import { Optimizer } from './optimizer.ts'
import { readOptimizer, writeOptimizer } from './optimizer-file.ts'
import {
  type AngleSums,
  assertFiniteNorm,
  cosinesOf,
  nothingAccumulated,
  piecesOf,
  type Shard,
  WHOLE,
} from './optimizer-step.ts'
import { readTrained, saveModel } from './saved-model.ts'
import { allocateTrained, assertShared, sharedMemory, type Trained } from './trained.ts'
import type { SampleBits } from './weight-sizes.ts'

const FIXED = { 8: quantizedWeights, 32: constantWeights }

/** All weights of one policy, and how those that are trained change: by steps, by other engines, by checkpoints. */
export class Parameters {
  readonly config: ModelConfig
  readonly lora: LoraConfig | null
  /** Tokenizer and other text files of the model's folder, by name. */
  readonly files: ReadonlyMap<string, string>
  readonly trained: readonly Trained[]
  readonly gradient: Gradient
  readonly optimizer: Optimizer
  readonly #model: LoadedSource
  readonly #tensors: NamedTensors
  readonly #part: Shard
  /** Where weights are when a device computes: they are learnt there, and the arrays here may be older. */
  readonly #onDevice: DeviceWeights | null
  #reference: ReadonlyMap<string, Float32Array> | null = null
  #shared: SharedArrayBuffer[] | null = null
  /** Grows with every change, so that graphs with fixed weights know when they are out of date. */
  version = 0

  /**
   * @param device keeps weights, gradients and the optimiser's state, and takes its steps
   * @param part of the optimiser's work, where engines share it; on the processor alone
   */
  constructor(source: ModelSource, device: Device | null = null, part: Shard = WHOLE) {
    let room: Trained[] | null = null
    this.#model = loadSource(source, specs => {
      room = allocateTrained(specs, device === null)
      const views = new Map(room.map(({ name, param }) => [name, param.view]))
      return name => views.get(name)!
    })
    const { config, lora, files, weights, adapter, valueHead } = this.#model
    this.config = config
    this.lora = lora
    this.files = files
    const trainable = [...(adapter ?? weights), ...(valueHead ?? [])]
    this.trained =
      room ??
      allocateTrained(
        trainable.map(([name, { shape }]) => ({ name, shape })),
        device === null,
      )
    this.#part = part
    this.#tensors = new Map([...weights, ...(adapter ?? []), ...(valueHead ?? [])])
    for (const { name, param } of this.trained) {
      const tensor = this.#tensors.get(name)!
      if (tensor.data !== param.view) param.view.set(tensor.data)
      tensor.data = param.view
    }
    this.#onDevice =
      device &&
      new DeviceWeights(device, this.trained, name => {
        const { data, shape } = this.#tensors.get(name)!
        return { data, dims: shape }
      })
    this.gradient = new Gradient(this.trained, part, this.#onDevice)
    const ofValueHead = (name: string) => valueHead?.has(name) ?? false
    this.optimizer = new Optimizer(this.trained, part, ofValueHead, this.#onDevice)
  }

  get hasValueHead(): boolean {
    return this.#model.valueHead !== null
  }

  get count(): number {
    return [...this.#tensors.values()].reduce((sum, { data }) => sum + data.length, 0)
  }
  get trainedCount(): number {
    return this.trained.reduce((sum, { param }) => sum + param.length, 0)
  }

  /** Weights as graph inputs, fed by `feeds`. */
  asInputs(): Weights {
    const specs = [...this.#tensors].map(([name, { shape }]) => ({ name, shape }))
    return weightInputs(specs, this.lora ? loraScale(this.lora) : 0)
  }

  /** Current weights fixed into a graph, an adapter added to them; of 8 bits beside them. @param running of what makes them */
  asConstants(running: ExecutableOptions = {}, bits: SampleBits = 32): Promise<Weights> {
    return FIXED[bits](this.config, this.lora, this.#tensors, running)
  }

  /** Values for the inputs that a graph made from `asInputs` has. */
  async feeds(
    inputs: readonly { name: string }[],
    weights: LogprobOptions['weights'] = 'current',
  ): Promise<Feeds> {
    const names = inputs.flatMap(({ name }) => (name.startsWith('in.w.') ? [name.slice('in.w.'.length)] : []))
    const feeds: Feeds = {}
    if (this.#onDevice) {
      for (const name of names) feeds[`w.${name}`] = await this.#deviceFeed(this.#onDevice, name, weights)
      return feeds
    }
    const reference = weights === 'reference' ? (this.#reference ?? noReference()) : null
    for (const name of names) {
      const { data, shape } = this.#tensors.get(name)!
      feeds[`w.${name}`] = { data: reference?.get(name) ?? data, dims: shape }
    }
    return feeds
  }

  async #deviceFeed(
    onDevice: DeviceWeights,
    name: string,
    weights: LogprobOptions['weights'],
  ): Promise<DeviceValue> {
    if (weights !== 'reference') return onDevice.weight(name)
    return (await onDevice.reference(name)) ?? noReference()
  }

  /** Brings the arrays of `trained` up to date before they are read, when a device computes: all but gradients. */
  async pull({ optimizer = false } = {}): Promise<void> {
    await this.#onDevice?.pull(optimizer)
  }

  /** SHA-256 of the shape and all weights as they are: models with one digest compute the same. */
  async digest(): Promise<string> {
    await this.pull()
    const hash = createHash('sha256').update(canonicalJson([this.config, this.lora]))
    for (const [name, { data, shape }] of [...this.#tensors].sort(([a], [b]) => (a < b ? -1 : 1)))
      hash
        .update(JSON.stringify([name, shape]))
        .update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
    return hash.digest('hex')
  }

  /** Keeps a copy of the trained weights. A fresh adapter adds nothing to its base, which is the reference then. */
  async freezeReference(): Promise<void> {
    if (this.#onDevice) await this.#onDevice.freeze()
    else this.#reference = new Map(this.trained.map(({ name, param }) => [name, param.view.slice()]))
  }

  /** The trained weights, a tensor each, copied to memory that other threads can read: the same memory every time. */
  async shareTrained(): Promise<SharedArrayBuffer[]> {
    await this.pull()
    this.#shared ??= sharedMemory(this.trained)
    for (const [i, { param }] of this.trained.entries()) new Float32Array(this.#shared[i]).set(param.view)
    return this.#shared
  }

  /**
   * Takes over trained weights that another engine of the same model shares; the optimiser's state stays, and
   * what is accumulated, the other weights' gradient, is dropped.
   * @throws CheckpointError when they are those of another model; nothing has changed then.
   */
  async takeTrained(shared: readonly SharedArrayBuffer[]): Promise<void> {
    assertShared('weights', shared, this.trained)
    await this.pull({ optimizer: true })
    for (const [i, { param }] of this.trained.entries()) param.view.set(new Float32Array(shared[i]))
    this.changed()
  }

  /** Is called when the arrays of `trained` were written: what was made of them before is out of date, a gradient too. */
  changed(): void {
    this.#onDevice?.invalidate()
    this.gradient.drop()
    this.version++
  }

  /**
   * Clips the accumulated gradient to a global norm and takes one AdamW step with it; weight decay acts on matrices only. The
   * value head's learning rate may be its own. The gradient is used up, whether the step is taken or not.
   * @returns the norm before clipping, and cosines where they are asked for
   * @throws NumericError when the gradient is not finite; UsageError when there is none. No weight has changed then.
   */
  async step(options: StepOptions): Promise<Pick<StepStats, 'gradientCosines'> & { gradNorm: number }> {
    if (this.gradient.isEmpty) throw nothingAccumulated()
    try {
      const norm = await this.gradient.norm()
      assertFiniteNorm(norm)
      const angles = options.gradient && (await this.gradient.compare(options.gradient))
      await this.optimizer.step(options, norm)
      this.version++
      return { gradNorm: norm, ...(angles && { gradientCosines: cosinesOf([angles], norm) }) }
    } finally {
      this.gradient.drop()
    }
  }

  /**
   * Takes this engine's part of a step with a gradient of so large a global norm; the gradient is used up.
   * @returns the trained tensors in memory that other threads can read, of that this engine's pieces; sums for cosines
   */
  async stepPart(
    options: StepOptions,
    norm: number,
  ): Promise<{ weights: readonly SharedArrayBuffer[]; angles: Readonly<Record<string, AngleSums>> | null }> {
    try {
      const angles = options.gradient ? await this.gradient.compare(options.gradient) : null
      await this.optimizer.step(options, norm)
      this.version++
      this.#shared ??= sharedMemory(this.trained)
      for (const [i, { start, length }] of piecesOf(this.trained, this.#part).entries())
        new Float32Array(this.#shared[i]).set(
          this.trained[i].param.view.subarray(start, start + length),
          start,
        )
      return { weights: this.#shared, angles }
    } finally {
      this.gradient.drop()
    }
  }

  /** Takes over what the other engines' steps have made of their pieces; `weights` by engine, this one's too. */
  takeParts(weights: readonly (readonly SharedArrayBuffer[])[]): void {
    for (const [index, shared] of weights.entries()) {
      if (index === this.#part.index) continue
      for (const [i, { start, length }] of piecesOf(this.trained, { ...this.#part, index }).entries())
        this.trained[i].param.view.set(new Float32Array(shared[i], start * 4, length), start)
    }
    this.version++
  }

  /**
   * Writes a checkpoint folder as a whole; see `saveModel`.
   * @throws UsageError while a gradient waits for its step; CheckpointError for weights that are not finite
   */
  async save(folder: string, withOptimizer: boolean): Promise<void> {
    if (!this.gradient.isEmpty)
      throw new UsageError('save: expected no accumulated gradient, which a checkpoint does not hold', {
        hint: 'take the step first',
      })
    await this.pull({ optimizer: withOptimizer })
    // A step of too large a learning rate shows in the next batch, which may never come.
    for (const { name, param } of this.trained) refuseNonFinite(param.view, name)
    saveModel(folder, this.#model, target => {
      if (withOptimizer) writeOptimizer(target, this.trained, this.optimizer.steps)
    })
  }

  /**
   * Reads the trained weights from a folder that `save` wrote, and the optimiser's state; it starts anew where the folder
   * has none or it is not wanted, and what is accumulated is dropped.
   * @throws CheckpointError for anything missing, of another size, or not as its manifest says; nothing has changed then.
   */
  load(folder: string, withOptimizer = true): void {
    const stored = readTrained(folder, this.#model, this.trained)
    const moments = withOptimizer ? readOptimizer(folder, this.trained) : null
    this.optimizer.steps = moments?.steps ?? 0
    this.trained.forEach(({ param, m, v }, i) => {
      param.view.set(stored[i])
      m.view.set(moments?.m[i] ?? new Float32Array(m.length))
      v.view.set(moments?.v[i] ?? new Float32Array(v.length))
    })
    this.changed()
  }
}

const noReference = (): never => {
  throw new CheckpointError('no reference weights are frozen', { hint: 'call freezeReference first' })
}

export { modelTensors } from './weight-sizes.ts'
