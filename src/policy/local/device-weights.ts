/**
 * @file Weights on a device: graphs are fed with them there, gradients are added up and AdamW's step is taken there. The arrays of
 * `Parameters` are what they are loaded from, and what they are copied back to when somebody reads them.
 */

import {
  add,
  type Device,
  type DeviceValue,
  div,
  Executable,
  input,
  mul,
  reduceSum,
  slice,
  sqrt,
  square,
  sub,
  type TensorValue,
} from '../../tensor/index.ts'
import type { AdamWStep } from './flat.ts'

/** A trained tensor's arrays in this process. */
export interface HostTensor {
  name: string
  shape: readonly number[]
  param: { view: Float32Array }
  grad: { view: Float32Array }
  m: { view: Float32Array }
  v: { view: Float32Array }
}

/** Settings of AdamW in the order in which the graph reads them. */
const SETTINGS = 9

const settingsOf = ({ step, lr, beta1, beta2, eps, weightDecay, gradScale = 1 }: AdamWStep): Float32Array =>
  Float32Array.of(
    gradScale,
    ...[beta1, 1 - beta1, beta2, 1 - beta2],
    1 / Math.sqrt(1 - beta2 ** step),
    eps,
    1 - lr * weightDecay,
    lr / (1 - beta1 ** step),
  )

/** One step of torch.optim.AdamW on flat tensors [N], term for term that of `assembly/flat.ts`. */
const adamwGraph = () => {
  const [param, grad, m, v] = ['param', 'grad', 'm', 'v'].map(name => input(name, ['N']))
  const settings = input('settings', [SETTINGS])
  const [scale, keepM, takeM, keepV, takeV, rootScale, epsilon, decay, stepSize] = Array.from(
    { length: SETTINGS },
    (_, i) => slice(settings, 0, i, i + 1),
  )
  const g = mul(grad, scale)
  const nextM = add(mul(m, keepM), mul(g, takeM))
  const nextV = add(mul(v, keepV), mul(square(g), takeV))
  const root = add(mul(sqrt(nextV), rootScale), epsilon)
  const nextParam = sub(mul(param, decay), mul(div(nextM, root), stepSize))
  return { param: nextParam, m: nextM, v: nextV }
}

const sumGraph = () => ({ sum: add(input('a', ['N']), input('b', ['N'])) })

/** Sum of squares of all gradients, row by row first: in single precision fewer digits are lost that way. */
const squaresGraph = (shapes: readonly (readonly number[])[]) => {
  const squares = shapes.map((shape, i) => {
    const all = square(input(`g${i}`, shape))
    return reduceSum(shape.length > 1 ? reduceSum(all, [-1]) : all)
  })
  return { total: squares.reduce((a, b) => add(a, b)) }
}

/** Compiled when it is first wanted. */
const lazily = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | null = null
  return () => (made ??= make())
}

const flat = (value: DeviceValue): DeviceValue => value.reshaped([value.dims.reduce((a, b) => a * b, 1)])

/** Moments of a trained tensor on the device. */
interface Moments {
  m: DeviceValue
  v: DeviceValue
}

export class DeviceWeights {
  readonly device: Device
  readonly #trained: readonly HostTensor[]
  readonly #hostOf: (name: string) => TensorValue
  /** All weights that were fed so far, by name. */
  readonly #weights = new Map<string, DeviceValue>()
  #moments: Moments[] | null = null
  /** Gradient of each trained tensor, added up since the last step. */
  #gradient: DeviceValue[] | null = null
  /** The trained weights as they were when they were frozen. */
  #reference: ReadonlyMap<string, DeviceValue> | null = null
  /** Whether the arrays in this process are older than what lies here. */
  #ahead = false
  readonly #adamw: () => Promise<Executable>
  readonly #sum: () => Promise<Executable>
  readonly #squares: () => Promise<Executable>

  /** @param hostOf any weight of the model, as its array in this process */
  constructor(device: Device, trained: readonly HostTensor[], hostOf: (name: string) => TensorValue) {
    this.device = device
    this.#trained = trained
    this.#hostOf = hostOf
    this.#adamw = lazily(() =>
      Executable.compile(adamwGraph(), { ...device.options, keep: ['param', 'm', 'v'] }),
    )
    this.#sum = lazily(() => Executable.compile(sumGraph(), { ...device.options, keep: ['sum'] }))
    this.#squares = lazily(() =>
      Executable.compile(squaresGraph(trained.map(({ shape }) => shape)), device.options),
    )
  }

  /** A weight as it is; it stays this one's. */
  async weight(name: string): Promise<DeviceValue> {
    const known = this.#weights.get(name)
    if (known) return known
    const value = await this.device.upload(this.#hostOf(name))
    this.#weights.set(name, value)
    return value
  }

  /** A weight as it was when it was frozen; null when none are frozen. */
  async reference(name: string): Promise<DeviceValue | null> {
    return this.#reference && (this.#reference.get(name) ?? (await this.weight(name)))
  }

  /** Keeps the trained weights as they are. No copy is made: a step makes new ones. */
  async freeze(): Promise<void> {
    const frozen = new Map<string, DeviceValue>()
    for (const { name } of this.#trained) frozen.set(name, await this.weight(name))
    for (const [name, value] of this.#reference ?? []) if (frozen.get(name) !== value) value.release()
    this.#reference = frozen
  }

  /** Adds a micro-batch's gradients, in the order of the trained tensors, to what is accumulated; takes them over. */
  async addGradient(gradients: DeviceValue[]): Promise<void> {
    const before = this.#gradient
    if (!before) {
      this.#gradient = gradients
      return
    }
    const graph = await this.#sum()
    const sums: DeviceValue[] = []
    for (const [i, gradient] of gradients.entries()) {
      const { kept } = await graph.execute({ a: flat(before[i]), b: flat(gradient) })
      sums.push(kept.sum.reshaped(gradient.dims))
      for (const old of [before[i], gradient]) old.release()
    }
    this.#gradient = sums
  }

  dropGradient(): void {
    for (const gradient of this.#gradient ?? []) gradient.release()
    this.#gradient = null
  }

  /** Global norm of what is accumulated, summed in single precision. */
  async gradientNorm(): Promise<number> {
    const graph = await this.#squares()
    const { total } = await graph.run(
      Object.fromEntries(this.#gradient!.map((gradient, i) => [`g${i}`, gradient])),
    )
    return Math.sqrt((total.data as Float32Array)[0])
  }

  /** Copies what is accumulated to the arrays in this process. */
  async pullGradient(): Promise<void> {
    for (const [i, { grad }] of this.#trained.entries())
      await this.device.download(this.#gradient![i], grad.view)
  }

  /** AdamW's step on every trained tensor; the gradient is used up. */
  async step(settingsFor: (trained: HostTensor) => AdamWStep): Promise<void> {
    const graph = await this.#adamw()
    this.#moments ??= await this.#uploadMoments()
    const settings = new Map<string, DeviceValue>()
    for (const [i, tensor] of this.#trained.entries()) {
      const data = settingsOf(settingsFor(tensor))
      const key = data.join()
      if (!settings.has(key)) settings.set(key, await this.device.upload({ data, dims: [SETTINGS] }))
      const old = await this.weight(tensor.name)
      const { m, v } = this.#moments[i]
      const feeds = { param: flat(old), grad: flat(this.#gradient![i]), m, v, settings: settings.get(key)! }
      const { kept } = await graph.execute(feeds)
      if (this.#reference?.get(tensor.name) !== old) old.release()
      for (const used of [m, v]) used.release()
      this.#weights.set(tensor.name, kept.param.reshaped(tensor.shape))
      this.#moments[i] = { m: kept.m, v: kept.v }
    }
    for (const value of settings.values()) value.release()
    this.dropGradient()
    this.#ahead = true
  }

  async #uploadMoments(): Promise<Moments[]> {
    const moments: Moments[] = []
    for (const { m, v } of this.#trained) {
      const [first, second] = [m, v].map(({ view }) => ({ data: view, dims: [view.length] }))
      moments.push({ m: await this.device.upload(first), v: await this.device.upload(second) })
    }
    return moments
  }

  /** Brings the arrays in this process up to date: weights, and the moments where they are asked for. */
  async pull(withMoments: boolean): Promise<void> {
    if (!this.#ahead) return
    for (const [i, { name, param, m, v }] of this.#trained.entries()) {
      await this.device.download(await this.weight(name), param.view)
      if (!withMoments) continue
      await this.device.download(this.#moments![i].m, m.view)
      await this.device.download(this.#moments![i].v, v.view)
    }
    // Moments that were not read are still ahead.
    this.#ahead = !withMoments
  }

  /** The arrays in this process were changed: what lies here of them is out of date. The reference stays. */
  invalidate(): void {
    this.dropGradient()
    for (const { name } of this.#trained) {
      const value = this.#weights.get(name)
      if (value && this.#reference?.get(name) !== value) value.release()
      this.#weights.delete(name)
    }
    for (const { m, v } of this.#moments ?? []) for (const value of [m, v]) value.release()
    this.#moments = null
    this.#ahead = false
  }
}
