/** @file AdamW over the trained tensors, or over an engine's pieces of them. */

import type { OptimizerSettings } from '../policy.ts'
import type { DeviceWeights } from './device-weights.ts'
import type { AdamWSpans, FlatSpan } from './flat.ts'
import { adamwSettings, type MomentPieces, piecesOf, type Shard, type TensorPiece } from './optimizer-step.ts'
import type { Trained, TrainedSpec } from './trained.ts'

/** Takes steps with the accumulated gradient; keeps both moments of every tensor and counts the steps. */
export class Optimizer {
  readonly #trained: readonly Trained[]
  readonly #part: Shard
  readonly #ofValueHead: (name: string) => boolean
  readonly #onDevice: DeviceWeights | null
  /** This engine's piece of every tensor, which it steps. */
  readonly #own: readonly AdamWSpans[]
  /** AdamW's step counter. */
  steps = 0

  /**
   * @param ofValueHead tells a tensor that has the value head's learning rate
   * @param onDevice where steps are taken when a device computes
   */
  constructor(
    trained: readonly Trained[],
    part: Shard,
    ofValueHead: (name: string) => boolean,
    onDevice: DeviceWeights | null,
  ) {
    this.#trained = trained
    this.#part = part
    this.#ofValueHead = ofValueHead
    this.#onDevice = onDevice
    const pieces = piecesOf(trained, part)
    this.#own = trained.map(({ param, grad, m, v }, i) => {
      const cut = (span: FlatSpan) => span.sub(pieces[i].start, pieces[i].length)
      return { param: cut(param), grad: cut(grad), m: cut(m), v: cut(v) }
    })
  }

  /** One step with a gradient of so large a global norm; see `adamwSettings`. */
  async step(settings: OptimizerSettings, norm: number): Promise<void> {
    const settingsOf = adamwSettings(settings, { step: ++this.steps, norm })
    const settingsFor = ({ name, shape }: TrainedSpec) =>
      settingsOf({ isMatrix: shape.length > 1, ofValueHead: this.#ofValueHead(name) })
    if (this.#onDevice) await this.#onDevice.step(settingsFor)
    else
      for (const [i, own] of this.#own.entries()) own.param.buffer.adamw(own, settingsFor(this.#trained[i]))
  }

  /** Both moments of the pieces that a part has, copied to memory that other threads can read: on their way it is not copied again. */
  moments(part: Shard = this.#part): MomentPieces {
    const pieces = piecesOf(this.#trained, part)
    const copy = ({ view }: FlatSpan, { start, length }: TensorPiece) => {
      const shared = new Float32Array(new SharedArrayBuffer(length * 4))
      shared.set(view.subarray(start, start + length))
      return shared
    }
    return {
      ...{ part, steps: this.steps },
      m: this.#trained.map(({ m }, i) => copy(m, pieces[i])),
      v: this.#trained.map(({ v }, i) => copy(v, pieces[i])),
    }
  }

  /** Takes over moments that another engine of the same model has. */
  takeMoments({ part, steps, m, v }: MomentPieces): void {
    for (const [i, { start }] of piecesOf(this.#trained, part).entries()) {
      this.#trained[i].m.view.set(m[i], start)
      this.#trained[i].v.view.set(v[i], start)
    }
    this.steps = steps
  }
}
