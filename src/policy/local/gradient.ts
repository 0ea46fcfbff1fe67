/** @file The gradient that waits for a step: summed over micro-batches, and over the engines that share the step. */

import type { DeviceValue, TensorValue, Values } from '../../tensor/index.ts'
import type { StepOptions } from '../policy.ts'
import type { DeviceWeights } from './device-weights.ts'
import type { FlatSpan } from './flat.ts'
import { type AngleSums, dot, piecesOf, type Shard, type TensorPiece } from './optimizer-step.ts'
import { assertShared, sharedMemory, type Trained } from './trained.ts'

/** Output of a training graph that holds the gradient of the i-th trained tensor. */
export const gradientName = (index: number): string => `gradient${index}`

/** What is accumulated of all trained tensors; where engines share a step, each sums its own pieces over all of them. */
export class Gradient {
  readonly #trained: readonly Trained[]
  readonly #onDevice: DeviceWeights | null
  /** This engine's piece of every tensor, and the gradient there. */
  readonly #pieces: readonly TensorPiece[]
  readonly #own: readonly FlatSpan[]
  /** Micro-batches that are summed in `grad`. */
  #pending = 0
  /** Gradients of earlier steps by name, of this engine's pieces. */
  readonly #kept = new Map<string, { squares: number; tensors: Float32Array[] }>()
  #shared: SharedArrayBuffer[] | null = null

  /** @param onDevice where gradients stay when a device computes */
  constructor(trained: readonly Trained[], part: Shard, onDevice: DeviceWeights | null) {
    this.#trained = trained
    this.#onDevice = onDevice
    this.#pieces = piecesOf(trained, part)
    this.#own = trained.map(({ grad }, i) => grad.sub(this.#pieces[i].start, this.#pieces[i].length))
  }

  get isEmpty(): boolean {
    return this.#pending === 0
  }

  /** Names of the outputs of a training graph that stay on the device, if one computes; see `gradientName`. */
  get keptOutputs(): readonly string[] | undefined {
    return this.#onDevice ? this.#trained.map((_, i) => gradientName(i)) : undefined
  }

  /** Where a graph may write its gradients, by the names that `gradientName` gives; nothing where it has to make new arrays. */
  targets(): Values {
    const targets: Values = {}
    if (this.#onDevice) return targets
    this.#trained.forEach(({ grad, spare, shape }, i) => {
      const span = this.#pending === 0 ? grad : spare
      if (span) targets[gradientName(i)] = { data: span.view, dims: shape }
    })
    return targets
  }

  /** Adds the gradients of a micro-batch, written to `targets` or to new arrays, or kept on the device. */
  async add(outputs: Record<string, TensorValue>, kept: Record<string, DeviceValue>): Promise<void> {
    const isFirst = this.#pending++ === 0
    if (this.#onDevice) return this.#onDevice.addGradient(this.#trained.map((_, i) => kept[gradientName(i)]))
    if (isFirst) return
    this.#trained.forEach(({ grad, spare }, i) => {
      if (spare) grad.buffer.addTo(grad, spare)
      else grad.buffer.accumulate(grad, outputs[gradientName(i)].data as Float32Array)
    })
  }

  /** Forgets what is accumulated. */
  drop(): void {
    this.#pending = 0
    this.#onDevice?.dropGradient()
  }

  /** Brings the arrays of the trained tensors' gradients up to date before they are read, when a device computes. */
  async pull(): Promise<void> {
    await this.#onDevice?.pullGradient()
  }

  /**
   * What is accumulated, a tensor each, in memory that other threads can read, the same memory every time; of that the pieces of
   * the other engines. null: nothing is accumulated.
   */
  share(): readonly SharedArrayBuffer[] | null {
    if (this.#pending === 0) return null
    this.#shared ??= sharedMemory(this.#trained)
    for (const [i, { start, length }] of this.#pieces.entries()) {
      const { grad } = this.#trained[i]
      const shared = new Float32Array(this.#shared[i])
      shared.set(grad.view.subarray(0, start))
      shared.set(grad.view.subarray(start + length), start + length)
    }
    return this.#shared
  }

  /**
   * Adds gradients that other engines of the same model share to this one's pieces of what is accumulated.
   * @returns the sum of squares of these pieces
   * @throws CheckpointError when they are those of another model
   */
  gather(shared: readonly (readonly SharedArrayBuffer[] | null)[]): number {
    for (const gradient of shared) {
      if (gradient === null) continue
      assertShared('gradients', gradient, this.#trained)
      const isFirst = this.#pending++ === 0
      for (const [i, grad] of this.#own.entries()) {
        const { start, length } = this.#pieces[i]
        const added = new Float32Array(gradient[i], start * 4, length)
        if (isFirst) grad.view.set(added)
        else grad.buffer.accumulate(grad, added)
      }
    }
    return this.#squares()
  }

  /** Sum of squares of this engine's pieces. */
  #squares(): number {
    return this.#own.reduce((sum, grad) => sum + grad.buffer.sumSquares(grad), 0)
  }

  /** Global norm over all trained tensors. */
  async norm(): Promise<number> {
    return this.#onDevice ? this.#onDevice.gradientNorm() : Math.sqrt(this.#squares())
  }

  /** What cosines between the gradient and kept ones are made of, of this engine's pieces; then it is kept itself. */
  async compare({
    keepAs,
    against,
  }: NonNullable<StepOptions['gradient']>): Promise<Readonly<Record<string, AngleSums>>> {
    await this.pull()
    const sums = against.flatMap((name): [string, AngleSums][] => {
      const kept = this.#kept.get(name)
      if (!kept) return []
      const product = this.#own.reduce((sum, { view }, i) => sum + dot(view, kept.tensors[i]), 0)
      return [[name, { product, squares: kept.squares }]]
    })
    this.#kept.set(keepAs, { squares: this.#squares(), tensors: this.#own.map(({ view }) => view.slice()) })
    return Object.fromEntries(sums)
  }
}
