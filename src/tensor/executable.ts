/** @file Runs a graph on ONNX Runtime: checks what is fed, learns the sizes, returns typed arrays. */

import * as ort from 'onnxruntime-node'
import { GradusError, ShapeError } from '../util/errors.ts'
import { DeviceValue } from './device-value.ts'
import { bindShape, checkShape, evaluate, showShape } from './dim.ts'
import { type ModelInput, type OnnxModel, toOnnx } from './onnx.ts'
import type { Provider } from './providers.ts'
import type { DType, Tensor, TensorData } from './tensor.ts'

/** A value with its shape. Arrays may be views into a larger buffer; they are read in place, without a copy. */
export interface TensorValue {
  data: TensorData
  dims: readonly number[]
}

export type Values = Record<string, TensorValue>

/** What a graph may be fed with: arrays, and what runs before it left on the device. */
export type Feeds = Record<string, TensorValue | DeviceValue>

/** What native work goes through, so that its thread can be ended at a moment when there is none. */
export interface Gate {
  /** Throws when no further work may begin. */
  enter(): void
  leave(): void
}

/** Native work while the gate is held open. */
const within = async <T>(gate: Gate | undefined, work: () => Promise<T>): Promise<T> => {
  gate?.enter()
  try {
    return await work()
  } finally {
    gate?.leave()
  }
}

/** Bytes of arrays that runs were fed with and that came out of them: what has to be copied where a device computes. */
export interface Traffic {
  upBytes: number
  downBytes: number
}

export interface ExecutableOptions {
  /** Threads inside one operation. */
  threads?: number
  /**
   * Threads spin while they wait for the next operation. Faster on idle cores, many times slower where other work wants
   * them. Default true; one thread never waits.
   */
  spinning?: boolean
  /**
   * Memory of a run is kept for the next, of whatever shapes there were. Default true; else it goes back at once, which takes time
   * and leaves more to others.
   */
  arena?: boolean
  /** `cpu` by default. */
  provider?: Provider
  /**
   * Writes operations that not every provider has a kernel for with others; where that is not wanted, the runtime computes them on
   * the processor, and copies what they read and write. True by default for `webgpu`, else false.
   */
  composed?: boolean
  /** Outputs that stay on the device of the provider `webgpu`: `execute` hands them out as `kept`. Others come as arrays. */
  keep?: readonly string[]
  gate?: Gate
  /** Is added to with every run. */
  traffic?: Traffic
  /** Path whose beginning the runtime's own profile gets; `endProfiling` completes it. Slows every run down. */
  profilePrefix?: string
}

/** How ONNX Runtime says that there is no GPU; before and after it stands where in its source that is. */
const NO_DEVICE =
  /^[\s\S]*?((?:Failed to get a WebGPU adapter|Failed to get a WebGPU device|WebGPU .* not supported)[\s\S]*)$/

const publicName = (input: ModelInput) => input.name.slice('in.'.length)

const ARRAY_OF: Record<DType, new (length: number) => TensorData> = {
  float32: Float32Array,
  int32: Int32Array,
  int64: BigInt64Array,
  bool: Uint8Array,
  int8: Int8Array,
  uint8: Uint8Array,
}

/** Without what the runtime read. */
type ModelFacts = Omit<OnnxModel, 'bytes' | 'external'>

/** A compiled graph. `run` blocks its thread while it computes, so an engine keeps it in a worker. */
export class Executable {
  readonly model: ModelFacts
  readonly #session: ort.InferenceSession
  readonly #fed: readonly ModelInput[]
  readonly #sized: readonly ModelInput[]
  readonly #gate: Gate | undefined
  readonly #traffic: Traffic | undefined

  private constructor(
    model: ModelFacts,
    session: ort.InferenceSession,
    { gate, traffic }: Pick<ExecutableOptions, 'gate' | 'traffic'>,
  ) {
    this.model = model
    this.#session = session
    this.#gate = gate
    this.#traffic = traffic
    this.#fed = model.inputs.filter(x => !x.sizes)
    this.#sized = model.inputs.filter(x => x.sizes)
  }

  /** Compiles the graph that computes `outputs`. @throws GradusError when ONNX Runtime refuses it. */
  static async compile(
    outputs: Readonly<Record<string, Tensor>>,
    options: ExecutableOptions = {},
  ): Promise<Executable> {
    const { provider = 'cpu', composed = provider === 'webgpu' } = options
    const model = toOnnx(outputs, composed)
    try {
      const create = () =>
        ort.InferenceSession.create(model.bytes, {
          executionProviders: [provider],
          intraOpNumThreads: options.threads ?? 2,
          interOpNumThreads: 1,
          // Measured on a training step: 'all' is slower than 'basic', and memory patterns cost more than they save.
          graphOptimizationLevel: 'basic',
          enableMemPattern: false,
          externalData: model.external,
          enableCpuMemArena: options.arena ?? true,
          logSeverityLevel: 3,
          ...(options.keep && {
            preferredOutputLocation: Object.fromEntries(
              options.keep.map(name => [`out.${name}`, 'gpu-buffer'] as const),
            ),
          }),
          ...(options.profilePrefix && { enableProfiling: true, profileFilePrefix: options.profilePrefix }),
          ...(options.spinning === false && { extra: { session: { intra_op: { allow_spinning: '0' } } } }),
        })
      const session = await within(options.gate, create)
      // The runtime has copies of its own by now.
      const { bytes: _bytes, external: _external, ...facts } = model
      return new Executable(facts, session, options)
    } catch (error) {
      const { message } = error as Error
      if (provider === 'webgpu' && NO_DEVICE.test(message))
        throw new GradusError(`WebGPU does not start here: ${message.replace(NO_DEVICE, '$1').trim()}`, {
          cause: error,
          hint: 'it needs a GPU with its driver; on Linux also the Vulkan loader (libvulkan.so.1) and a Vulkan 1.1 driver that it finds (`vulkaninfo --summary`). Or compute with the provider cpu',
        })
      throw new GradusError(`ONNX Runtime refused the graph: ${message}`, { cause: error })
    }
  }

  /** Whether the graph has an input of that name. */
  takes(name: string): boolean {
    return this.#fed.some(input => publicName(input) === name)
  }

  /**
   * Feeds the inputs and computes the outputs. Outputs named in `targets` are written straight into the arrays given there, which
   * saves a copy into them; the others come in new arrays.
   * @throws ShapeError for a missing or extra input, a wrong type, or shapes that contradict each other.
   */
  async run(values: Feeds, targets: Values = {}): Promise<Record<string, TensorValue>> {
    return (await this.execute(values, targets)).values
  }

  /**
   * `run`, with what stays on the device. Whoever calls this releases it.
   * @throws as `run`
   */
  async execute(
    values: Feeds,
    targets: Values = {},
  ): Promise<{ values: Record<string, TensorValue>; kept: Record<string, DeviceValue> }> {
    const sizes = new Map<string, number>()
    const feeds: Record<string, ort.Tensor> = {}
    for (const input of this.#fed) feeds[input.name] = this.#feed(input, values, sizes)
    for (const input of this.#fed)
      checkShape(publicName(input), input.shape, values[publicName(input)].dims, sizes)
    for (const input of this.#sized) feeds[input.name] = sizesTensor(input, sizes)
    this.#refuseUnknown(values)
    const fetches = this.#fetches(targets, sizes)
    const results = await within(this.#gate, () => this.#session.run(feeds, fetches))
    const named: Record<string, TensorValue> = {}
    const kept: Record<string, DeviceValue> = {}
    for (const { name } of this.model.outputs) {
      const tensor = results[`out.${name}`]
      if (tensor.location === 'gpu-buffer') kept[name] = new DeviceValue(tensor)
      else named[name] = { data: tensor.data as TensorData, dims: tensor.dims }
    }
    if (this.#traffic) {
      this.#traffic.upBytes += arrayBytes(Object.values(values))
      this.#traffic.downBytes += arrayBytes(Object.values(named))
    }
    return { values: named, kept }
  }

  #feed(input: ModelInput, values: Feeds, sizes: Map<string, number>): ort.Tensor {
    const name = publicName(input)
    const value = values[name]
    if (!value)
      throw new ShapeError(`input ${name}: expected ${input.dtype}${showShape(input.shape)}, got nothing`)
    if (value instanceof DeviceValue) {
      if (value.dtype !== input.dtype)
        throw new ShapeError(`input ${name}: expected ${input.dtype}, got ${value.dtype} on the device`)
      bindShape(name, input.shape, value.dims, sizes)
      return value.tensor
    }
    if (!(value.data instanceof ARRAY_OF[input.dtype]))
      throw new ShapeError(`input ${name}: expected ${input.dtype}, got ${value.data.constructor.name}`)
    bindShape(name, input.shape, value.dims, sizes)
    return new ort.Tensor(input.dtype, value.data, value.dims)
  }

  #fetches(targets: Values, sizes: ReadonlyMap<string, number>): Record<string, ort.Tensor | null> {
    return Object.fromEntries(
      this.model.outputs.map(({ name, dtype, shape }) => {
        const target = targets[name]
        if (!target) return [`out.${name}`, null]
        checkShape(name, shape, target.dims, sizes)
        return [`out.${name}`, new ort.Tensor(dtype, target.data, target.dims)]
      }),
    )
  }

  #refuseUnknown(values: Feeds): void {
    if (Object.keys(values).length === this.#fed.length) return
    const known = new Set(this.#fed.map(publicName))
    const extra = Object.keys(values).filter(name => !known.has(name))
    throw new ShapeError(
      `inputs ${extra.join(', ')} are not part of the graph; it takes ${[...known].join(', ')}`,
    )
  }

  /** Completes the profile that `profilePrefix` asked for. */
  endProfiling(): void {
    this.#session.endProfiling()
  }

  async release(): Promise<void> {
    await within(this.#gate, () => this.#session.release())
  }
}

const arrayBytes = (values: readonly (TensorValue | DeviceValue)[]): number =>
  values.reduce((sum, x) => sum + (x instanceof DeviceValue ? 0 : x.data.byteLength), 0)

const sizesTensor = (input: ModelInput, sizes: ReadonlyMap<string, number>): ort.Tensor =>
  new ort.Tensor(
    'int64',
    BigInt64Array.from(input.sizes!, dim => BigInt(evaluate(dim, sizes))),
    [input.sizes!.length],
  )
