/** @file A tensor on the device of a provider: what one run left there, and others are fed with. */

import * as ort from 'onnxruntime-node'
import { ShapeError } from '../util/errors.ts'
import { showShape } from './dim.ts'
import type { DType } from './tensor.ts'

/**
 * An output that stayed on the device. It is never changed by a run, so that several may read it at the same time. Its memory is
 * freed by `release`; its numbers are read by a graph whose output is an array (`Device.download`).
 */
export class DeviceValue {
  readonly dtype: DType
  readonly dims: readonly number[]
  /** What the runtime is fed with. */
  readonly tensor: ort.Tensor
  readonly #owner: ort.Tensor

  /** @param owner the runtime's tensor, whose memory this one is; with other `dims` where they are given */
  constructor(owner: ort.Tensor, dims: readonly number[] = owner.dims) {
    this.#owner = owner
    this.dtype = owner.type as DType
    this.dims = dims
    this.tensor =
      dims === owner.dims
        ? owner
        : ort.Tensor.fromGpuBuffer(owner.gpuBuffer, { dataType: owner.type as 'float32', dims })
  }

  /** The same memory read with another shape; it is released with this one. @throws ShapeError when the sizes differ */
  reshaped(dims: readonly number[]): DeviceValue {
    const count = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1)
    if (count(dims) !== count(this.dims))
      throw new ShapeError(`device value: ${showShape(this.dims)} cannot be read as ${showShape(dims)}`)
    return new DeviceValue(this.#owner, dims)
  }

  /** Gives its memory back; nothing may be fed with it afterwards. */
  release(): void {
    this.#owner.dispose()
  }
}
