/** @file The weights of a model in memory: frozen ones as plain arrays, trained ones flat beside gradient and moments. */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import {
  assertWholeModel,
  type CheckpointContent,
  saveCheckpoint,
  writeCompanions,
} from '../../model/checkpoint.ts'
import type { ModelConfig } from '../../model/config.ts'
import { type LoraConfig, loadAdapter, loraScale, loraSpecs, saveAdapter } from '../../model/lora-files.ts'
import { type NamedTensors, writeSafetensors } from '../../model/safetensors.ts'
import { type Weights, weightInputs } from '../../model/transformer.ts'
import {
  loadValueHead,
  loadWeights,
  refuseNonFinite,
  tensorSpecs,
  valueHeadFile,
} from '../../model/weights.ts'
import type { Device, DeviceValue, ExecutableOptions, Feeds, Value, Values } from '../../tensor/index.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { CheckpointError, UsageError } from '../../util/errors.ts'
import type { OptimizerSettings, ScoreOptions, StepOptions, StepStats } from '../policy.ts'
import { constantWeights } from './constant-weights.ts'
import { DeviceWeights } from './device-weights.ts'
import type { AdamWSpans, FlatSpan } from './flat.ts'
import { loadSource, type ModelSource } from './model-source.ts'
import { dataOf, OPTIMIZER_FILE, readOptimizer, writeOptimizer } from './optimizer-file.ts'
import {
  type AngleSums,
  adamwSettings,
  assertFiniteNorm,
  cosinesOf,
  dot,
  type MomentPieces,
  nothingAccumulated,
  type Part,
  type Piece,
  pieceOf,
  WHOLE,
} from './optimizer-step.ts'
import { allocateTrained, assertShared, sharedMemory, type Trained } from './trained.ts'

/** Output of a training graph that holds the gradient of the i-th trained tensor. */
export const gradientName = (index: number): string => `gradient${index}`

/** All weights of one policy, with the optimiser's state for those that are trained. */
export class Parameters {
  readonly config: ModelConfig
  readonly lora: LoraConfig | null
  readonly trained: readonly Trained[]
  /** Tokenizer and other text files of the model's folder, by name. */
  readonly files: ReadonlyMap<string, string>
  readonly #tensors: NamedTensors
  readonly #baseModel: string
  readonly #valueNames: ReadonlySet<string>
  #reference: ReadonlyMap<string, Float32Array> | null = null
  #shared: SharedArrayBuffer[] | null = null
  #sharedGradient: SharedArrayBuffer[] | null = null
  /** Micro-batches whose gradients are summed in `grad` and wait for a step. */
  #pending = 0
  /** Gradients of earlier steps by name, of this engine's pieces. */
  readonly #kept = new Map<string, { squares: number; tensors: Float32Array[] }>()
  readonly #part: Part
  /** This engine's piece of every trained tensor, which the optimiser steps. */
  readonly #own: readonly AdamWSpans[]
  /** Where weights are when a device computes: they are learnt there, and the arrays here may be older. */
  readonly #onDevice: DeviceWeights | null
  /** AdamW's step counter. */
  steps = 0
  /** Grows with every change, so that graphs with fixed weights know when they are out of date. */
  version = 0

  /**
   * @param device keeps weights, gradients and the optimiser's state, and takes its steps
   * @param part of the optimiser's work, where engines share it; on the processor alone
   */
  constructor(source: ModelSource, device: Device | null = null, part: Part = WHOLE) {
    let room: Trained[] | null = null
    const loaded = loadSource(source, specs => {
      room = allocateTrained(specs, device === null)
      const views = new Map(room.map(({ name, param }) => [name, param.view]))
      return name => views.get(name)!
    })
    this.config = loaded.config
    this.lora = loaded.lora
    this.files = loaded.files
    this.#baseModel = loaded.baseModel
    this.#valueNames = new Set(loaded.valueHead?.keys())
    const trainable = [...(loaded.adapter ?? loaded.weights), ...(loaded.valueHead ?? [])]
    this.trained =
      room ??
      allocateTrained(
        trainable.map(([name, { shape }]) => ({ name, shape })),
        device === null,
      )
    this.#part = part
    this.#own = this.trained.map(({ param, grad, m, v }) => {
      const { start, length } = pieceOf(param.length, part)
      const cut = (span: FlatSpan) => span.sub(start, length)
      return { param: cut(param), grad: cut(grad), m: cut(m), v: cut(v) }
    })
    this.#tensors = new Map([...loaded.weights, ...(loaded.adapter ?? []), ...(loaded.valueHead ?? [])])
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
  }

  get hasValueHead(): boolean {
    return this.#valueNames.size > 0
  }

  get count(): number {
    return [...this.#tensors.values()].reduce((sum, { data }) => sum + data.length, 0)
  }

  /** Weights as graph inputs, fed by `feeds`. */
  asInputs(): Weights {
    const specs = [...this.#tensors].map(([name, { shape }]) => ({ name, shape }))
    return weightInputs(specs, this.lora ? loraScale(this.lora) : 0)
  }

  /** Current weights fixed into a graph, an adapter added to them. @param running of the products that add it */
  asConstants(running: ExecutableOptions = {}): Promise<Weights> {
    return constantWeights(this.config, this.lora, this.#tensors, running)
  }

  /** Values for the inputs that a graph made from `asInputs` has. */
  async feeds(
    inputs: readonly { name: string }[],
    weights: ScoreOptions['weights'] = 'current',
  ): Promise<Feeds> {
    const names = inputs.flatMap(({ name }) => (name.startsWith('in.w.') ? [name.slice('in.w.'.length)] : []))
    const feeds: Feeds = {}
    if (this.#onDevice) {
      for (const name of names) feeds[`w.${name}`] = await this.#deviceFeed(this.#onDevice, name, weights)
      return feeds
    }
    const reference = weights === 'reference' ? this.#needReference() : null
    for (const name of names) {
      const { data, shape } = this.#tensors.get(name)!
      feeds[`w.${name}`] = { data: reference?.get(name) ?? data, dims: shape }
    }
    return feeds
  }

  async #deviceFeed(
    onDevice: DeviceWeights,
    name: string,
    weights: ScoreOptions['weights'],
  ): Promise<DeviceValue> {
    if (weights !== 'reference') return onDevice.weight(name)
    return (await onDevice.reference(name)) ?? noReference()
  }

  #needReference(): ReadonlyMap<string, Float32Array> {
    return this.#reference ?? noReference()
  }

  /** Brings the arrays of `trained` up to date before they are read, when a device computes: all but gradients unless asked for. */
  async pull({ optimizer = false, gradient = false } = {}): Promise<void> {
    await this.#onDevice?.pull(optimizer)
    if (gradient) await this.#onDevice?.pullGradient()
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
    this.dropGradient()
    this.version++
  }

  /** Names of the outputs of a training graph that stay on the device, if one computes; see `gradientName`. */
  get keptGradients(): readonly string[] | undefined {
    return this.#onDevice ? this.trained.map((_, i) => gradientName(i)) : undefined
  }

  /** Where a graph may write its gradients, by the names that `gradientName` gives; nothing where it has to make new arrays. */
  gradientTargets(): Values {
    const targets: Values = {}
    if (this.#onDevice) return targets
    this.trained.forEach(({ grad, spare, shape }, i) => {
      const span = this.#pending === 0 ? grad : spare
      if (span) targets[gradientName(i)] = { data: span.view, dims: shape }
    })
    return targets
  }

  /**
   * Adds the gradients of a micro-batch, written to `gradientTargets` or to new arrays, or kept on the device, to what is accumulated.
   */
  async addGradient(outputs: Record<string, Value>, kept: Record<string, DeviceValue>): Promise<void> {
    const isFirst = this.#pending++ === 0
    if (this.#onDevice) return this.#onDevice.addGradient(this.trained.map((_, i) => kept[gradientName(i)]))
    if (isFirst) return
    this.trained.forEach(({ grad, spare }, i) => {
      if (spare) grad.buffer.addTo(grad, spare)
      else grad.buffer.accumulate(grad, outputs[gradientName(i)].data as Float32Array)
    })
  }

  /** Pieces of the trained tensors that some part has. */
  #pieces(part: Part): Piece[] {
    return this.trained.map(({ param }) => pieceOf(param.length, part))
  }

  /**
   * What is accumulated, a tensor each, in memory that other threads can read, the same memory every time; of that the pieces of
   * the other engines. null: nothing is accumulated.
   */
  shareGradient(): readonly SharedArrayBuffer[] | null {
    if (this.#pending === 0) return null
    this.#sharedGradient ??= sharedMemory(this.trained)
    for (const [i, { start, length }] of this.#pieces(this.#part).entries()) {
      const { grad } = this.trained[i]
      const shared = new Float32Array(this.#sharedGradient[i])
      shared.set(grad.view.subarray(0, start))
      shared.set(grad.view.subarray(start + length), start + length)
    }
    return this.#sharedGradient
  }

  /**
   * Adds gradients that other engines of the same model share to this one's pieces of what is accumulated.
   * @returns the sum of squares of these pieces
   * @throws CheckpointError when they are those of another model
   */
  gatherGradient(shared: readonly (readonly SharedArrayBuffer[] | null)[]): number {
    const pieces = this.#pieces(this.#part)
    for (const gradient of shared) {
      if (gradient === null) continue
      assertShared('gradients', gradient, this.trained)
      const isFirst = this.#pending++ === 0
      for (const [i, { grad }] of this.#own.entries()) {
        const added = new Float32Array(gradient[i], pieces[i].start * 4, pieces[i].length)
        if (isFirst) grad.view.set(added)
        else grad.buffer.accumulate(grad, added)
      }
    }
    return this.#gradientSquares()
  }

  /** Forgets what is accumulated. */
  dropGradient(): void {
    this.#pending = 0
    this.#onDevice?.dropGradient()
  }

  /** Sum of squares of this engine's pieces of the gradient. */
  #gradientSquares(): number {
    return this.#own.reduce((sum, { grad }) => sum + grad.buffer.sumSquares(grad), 0)
  }

  /** Global norm of the gradient over all trained tensors. */
  async #gradientNorm(): Promise<number> {
    return this.#onDevice ? this.#onDevice.gradientNorm() : Math.sqrt(this.#gradientSquares())
  }

  /**
   * Clips the accumulated gradient to a global norm and takes one AdamW step with it; weight decay acts on matrices only. The
   * value head's learning rate may be its own. The gradient is used up, whether the step is taken or not.
   * @returns the norm before clipping, and cosines where they are asked for
   * @throws NumericError when the gradient is not finite; UsageError when there is none. No weight has changed then.
   */
  async step(options: StepOptions): Promise<Pick<StepStats, 'gradientCosines'> & { gradNorm: number }> {
    if (this.#pending === 0) throw nothingAccumulated()
    try {
      const norm = await this.#gradientNorm()
      assertFiniteNorm(norm)
      const angles = options.gradient && (await this.#compareGradient(options.gradient))
      await this.#takeStep(options, norm)
      return { gradNorm: norm, ...(angles && { gradientCosines: cosinesOf([angles], norm) }) }
    } finally {
      this.dropGradient()
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
      const angles = options.gradient ? await this.#compareGradient(options.gradient) : null
      await this.#takeStep(options, norm)
      this.#shared ??= sharedMemory(this.trained)
      for (const [i, { start }] of this.#pieces(this.#part).entries())
        new Float32Array(this.#shared[i]).set(this.#own[i].param.view, start)
      return { weights: this.#shared, angles }
    } finally {
      this.dropGradient()
    }
  }

  /** Takes over what the other engines' steps have made of their pieces; `weights` by engine, this one's too. */
  takeParts(weights: readonly (readonly SharedArrayBuffer[])[]): void {
    for (const [index, shared] of weights.entries()) {
      if (index === this.#part.index) continue
      for (const [i, { start, length }] of this.#pieces({ ...this.#part, index }).entries())
        this.trained[i].param.view.set(new Float32Array(shared[i], start * 4, length), start)
    }
    this.version++
  }

  async #takeStep(settings: OptimizerSettings, norm: number): Promise<void> {
    const settingsOf = adamwSettings(settings, { step: ++this.steps, norm })
    const settingsFor = ({ name, shape }: Pick<Trained, 'name' | 'shape'>) =>
      settingsOf({ isMatrix: shape.length > 1, ofValueHead: this.#valueNames.has(name) })
    if (this.#onDevice) await this.#onDevice.step(settingsFor)
    else for (const [i, own] of this.#own.entries()) own.param.buffer.adamw(own, settingsFor(this.trained[i]))
    this.version++
  }

  /** What cosines between the gradient and kept ones are made of, of this engine's pieces; then it is kept itself. */
  async #compareGradient({
    keepAs,
    against,
  }: NonNullable<StepOptions['gradient']>): Promise<Readonly<Record<string, AngleSums>>> {
    await this.pull({ gradient: true })
    const sums = against.flatMap((name): [string, AngleSums][] => {
      const kept = this.#kept.get(name)
      if (!kept) return []
      const product = this.#own.reduce((sum, { grad }, i) => sum + dot(grad.view, kept.tensors[i]), 0)
      return [[name, { product, squares: kept.squares }]]
    })
    const tensors = this.#own.map(({ grad }) => grad.view.slice())
    this.#kept.set(keepAs, { squares: this.#gradientSquares(), tensors })
    return Object.fromEntries(sums)
  }

  /** Both moments of the pieces that a part has, copied to memory that other threads can read: on their way it is not copied again. */
  moments(part: Part = this.#part): MomentPieces {
    const pieces = this.#pieces(part)
    const copy = ({ view }: FlatSpan, { start, length }: Piece) => {
      const shared = new Float32Array(new SharedArrayBuffer(length * 4))
      shared.set(view.subarray(start, start + length))
      return shared
    }
    return {
      ...{ part, steps: this.steps },
      m: this.trained.map(({ m }, i) => copy(m, pieces[i])),
      v: this.trained.map(({ v }, i) => copy(v, pieces[i])),
    }
  }

  /** Takes over moments that another engine of the same model has. */
  takeMoments({ part, steps, m, v }: MomentPieces): void {
    for (const [i, { start }] of this.#pieces(part).entries()) {
      this.trained[i].m.view.set(m[i], start)
      this.trained[i].v.view.set(v[i], start)
    }
    this.steps = steps
  }

  /**
   * Writes a checkpoint folder as a whole; see `saveCheckpoint` and `saveAdapter`.
   * @throws UsageError while a gradient waits for its step; CheckpointError for weights that are not finite
   */
  async save(folder: string, withOptimizer: boolean): Promise<void> {
    if (this.#pending > 0)
      throw new UsageError('save: expected no accumulated gradient, which a checkpoint does not hold', {
        hint: 'take the step first',
      })
    await this.pull({ optimizer: withOptimizer })
    // A step of too large a learning rate shows in the next batch, which may never come.
    for (const { name, param } of this.trained) refuseNonFinite(param.view, name)
    const writeMore = (target: string) => {
      if (withOptimizer) writeOptimizer(target, this.trained, this.steps)
    }
    const valueHead = this.#pick(this.#valueNames)
    if (this.lora) {
      const names = new Set(loraSpecs(this.config, this.lora).map(({ name }) => name))
      const adapter = { lora: this.lora, tensors: this.#pick(names), baseModel: this.#baseModel }
      const writeAll = (target: string) => {
        writeCompanions(target, this.files, this.config)
        if (valueHead.size > 0) writeSafetensors(join(target, valueHeadFile), valueHead)
        writeMore(target)
      }
      saveAdapter(folder, adapter, { writeMore: writeAll })
      return
    }
    const weights = this.#pick(new Set(tensorSpecs(this.config).map(({ name }) => name)))
    const content: CheckpointContent = {
      config: this.config,
      weights,
      valueHead: valueHead.size > 0 ? valueHead : null,
      files: this.files,
    }
    saveCheckpoint(folder, content, { writeMore })
  }

  #pick(names: ReadonlySet<string>): NamedTensors {
    return new Map([...this.#tensors].filter(([name]) => names.has(name)))
  }

  /**
   * Reads the trained weights from a folder that `save` wrote, and the optimiser's state; it starts anew where the folder
   * has none or it is not wanted, and what is accumulated is dropped.
   * @throws CheckpointError for anything missing, of another size, or not as its manifest says; nothing has changed then.
   */
  load(folder: string, withOptimizer = true): void {
    assertWholeModel(folder, [OPTIMIZER_FILE])
    const main = this.lora ? loadAdapter(folder, this.config).tensors : loadWeights(folder, this.config)
    const tensors = new Map([...main, ...((this.hasValueHead && loadValueHead(folder, this.config)) || [])])
    const stored = this.trained.map(({ name, param: { length } }) => dataOf(tensors, name, length, folder))
    const moments = withOptimizer ? readOptimizer(folder, this.trained) : null
    this.steps = moments?.steps ?? 0
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
