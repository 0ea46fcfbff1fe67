/** @file Arrays to the device of a provider and back. */

import type { DeviceValue } from './device-value.ts'
import { Executable, type ExecutableOptions, type TensorValue } from './executable.ts'
import { input } from './tensor.ts'

/**
 * Copies float32 arrays between this process and the device. The runtime's binding has no call for either: both are runs of a graph
 * that does nothing, fed with an array or with an array as its output.
 */
export class Device {
  /** What graphs are compiled with that compute on it. */
  readonly options: ExecutableOptions
  #up: Promise<Executable> | null = null
  #down: Promise<Executable> | null = null

  constructor(options: Omit<ExecutableOptions, 'keep' | 'provider'> = {}) {
    this.options = { ...options, provider: 'webgpu' }
  }

  #copier(keep?: readonly string[]): Promise<Executable> {
    return Executable.compile({ y: input('x', ['N']) }, { ...this.options, keep })
  }

  /** A copy of a float32 array on the device; whoever asks for it releases it. */
  async upload({ data, dims }: TensorValue): Promise<DeviceValue> {
    this.#up ??= this.#copier(['y'])
    const { kept } = await (await this.#up).execute({ x: { data, dims: [data.length] } })
    return kept.y.reshaped(dims)
  }

  /** A copy of what lies on the device, in a new array or in the one given. */
  async download(value: DeviceValue, into?: Float32Array): Promise<Float32Array> {
    this.#down ??= this.#copier()
    const dims = [value.dims.reduce((a, b) => a * b, 1)]
    const { y } = await (await this.#down).run(
      { x: value.reshaped(dims) },
      into && { y: { data: into, dims } },
    )
    return y.data as Float32Array
  }

  async release(): Promise<void> {
    for (const graph of [this.#up, this.#down]) await (await graph)?.release()
  }
}

/** @throws GradusError with what is missing when WebGPU does not start here */
export const assertWebGpu = async (): Promise<void> => {
  const graph = await Executable.compile({ y: input('x', [1]) }, { provider: 'webgpu' })
  await graph.release()
}
