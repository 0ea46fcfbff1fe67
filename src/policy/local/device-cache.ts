/** @file Keys and values of a running batch on a device: appended to, made longer and rearranged there. */

import type { StepLayout } from '../../model/decoding.ts'
import { MASKED } from '../../model/transformer.ts'
import {
  type DeviceValue,
  Executable,
  type ExecutableOptions,
  expand,
  type Feeds,
  gather,
  input,
  pad,
  reshape,
  slice,
  type Tensor,
  where,
} from '../../tensor/index.ts'
import { type Cache, nearMasks, paddingMask, type StepOutputs } from './cache.ts'
import { BUCKET, type CacheShape } from './cache-room.ts'

/** Keys, then values, of each layer. */
type Layers = readonly DeviceValue[]

const listOf = (kept: Record<string, DeviceValue>, count: number): DeviceValue[] =>
  Array.from({ length: count }, (_, which) => kept[`c${which}`])

const named = (layers: Layers): Feeds =>
  Object.fromEntries(layers.map((value, which) => [`c${which}`, value]))

/** Keys and values take turns. */
const isKeys = (which: number): boolean => which % 2 === 0

/** The graphs that a cache is worked on with, compiled when they are first wanted. */
export class CacheGraphs {
  readonly shape: CacheShape
  readonly #options: ExecutableOptions
  readonly #compiled = new Map<string, Promise<Executable>>()

  constructor(shape: CacheShape, options: ExecutableOptions) {
    this.shape = shape
    this.#options = options
  }

  /** How many tensors a cache has. */
  get count(): number {
    return 2 * this.shape.layers
  }

  #graph(name: string, outputs: () => Record<string, Tensor>): Promise<Executable> {
    const known = this.#compiled.get(name)
    if (known) return known
    const made = outputs()
    const graph = Executable.compile(made, { ...this.#options, keep: Object.keys(made) })
    this.#compiled.set(name, graph)
    graph.catch(() => this.#compiled.delete(name))
    return graph
  }

  #eachLayer(make: (own: Tensor, which: number) => Tensor): Record<string, Tensor> {
    const { kvHeads, headDim } = this.shape
    return Object.fromEntries(
      Array.from({ length: this.count }, (_, which) => {
        return [`c${which}`, make(input(`c${which}`, [kvHeads, 'R', 'C', headDim]), which)]
      }),
    )
  }

  /** `BUCKET` empty own places for each of some rows. */
  async empty(rows: number): Promise<DeviceValue[]> {
    const { kvHeads, headDim } = this.shape
    const graph = await this.#graph('empty', () => {
      const zeros = reshape(input('zeros', ['R']), [1, 'R', 1, 1])
      return this.#eachLayer(() => expand(zeros, [kvHeads, 'R', BUCKET, headDim]))
    })
    const { kept } = await graph.execute({ zeros: { data: new Float32Array(rows), dims: [rows] } })
    return listOf(kept, this.count)
  }

  /** Own places [kvHeads, R, ...] with each row's new keys and values at the place that `at` [R, C] marks. */
  async append(own: Layers, fresh: DeviceValue, at: Uint8Array, rows: number): Promise<DeviceValue[]> {
    const { kvHeads, headDim } = this.shape
    const graph = await this.#graph('append', () => {
      const all = input('fresh', [this.count, kvHeads, 'R', headDim])
      const marked = reshape(input('at', ['R', 'C'], 'bool'), [1, 'R', 'C', 1])
      return this.#eachLayer((old, which) =>
        where(marked, reshape(slice(all, 0, which, which + 1), [kvHeads, 'R', 1, headDim]), old),
      )
    })
    const { kept } = await graph.execute({
      ...named(own),
      fresh,
      at: { data: at, dims: [rows, at.length / rows] },
    })
    return listOf(kept, this.count)
  }

  /** Own places with `BUCKET` empty ones behind them. */
  async grow(own: Layers): Promise<DeviceValue[]> {
    const graph = await this.#graph('grow', () => this.#eachLayer(old => pad(old, 2, 0, BUCKET)))
    return listOf((await graph.execute(named(own))).kept, this.count)
  }

  /** Some entries of the second axis of [kvHeads, from, a, b], in the order given. */
  async pick(layers: Layers, from: number, which: readonly number[]): Promise<DeviceValue[]> {
    const { kvHeads } = this.shape
    const graph = await this.#graph('pick', () => ({
      picked: gather(input('all', ['N', 'W']), input('ids', ['M'], 'int64')),
    }))
    const ids = BigInt64Array.from({ length: kvHeads * which.length }, (_, i) =>
      BigInt(Math.floor(i / which.length) * from + which[i % which.length]),
    )
    const picked: DeviceValue[] = []
    for (const layer of layers) {
      const [a, b] = layer.dims.slice(-2)
      const all = layer.reshaped([kvHeads * from, a * b])
      const { kept } = await graph.execute({ all, ids: { data: ids, dims: [ids.length] } })
      picked.push(kept.picked.reshaped([kvHeads, which.length, a, b]))
    }
    return picked
  }
}

const releaseAll = (layers: Layers): void => {
  for (const value of layers) value.release()
}

/** The cache on a device. Layouts are those of `stepGraph`. */
export class DeviceCache implements Cache {
  readonly layout: StepLayout
  readonly #graphs: CacheGraphs
  #prompts: number
  #samples: number
  #capacity: number
  /** Of shared prompts: [kvHeads, P, S, headDim] of each layer. */
  #prompt: Layers
  /** Lengths of shared prompts. */
  #promptLengths: readonly number[]
  /** [P, S] */
  #promptMask: Float32Array
  readonly #promptLength: number
  /** [kvHeads, P*G, C, headDim] of each layer. */
  #own: Layers
  /** Filled places of each row, [P*G]. */
  #lengths: Int32Array

  private constructor(
    graphs: CacheGraphs,
    prompt: Layers,
    own: Layers,
    lengths: readonly number[],
    samples: number,
  ) {
    const sharedPrompt = prompt.length > 0
    this.layout = { sharedPrompt }
    this.#graphs = graphs
    this.#prompt = prompt
    this.#own = own
    this.#capacity = own[0].dims[2]
    this.#prompts = lengths.length
    this.#samples = samples
    this.#promptLength = sharedPrompt ? prompt[0].dims[2] : 0
    this.#promptLengths = sharedPrompt ? lengths : []
    this.#promptMask = paddingMask(this.#promptLengths, this.#promptLength)
    this.#lengths = sharedPrompt ? new Int32Array(this.rows) : Int32Array.from(lengths)
  }

  /** Takes over what the prompt pass kept, `k<l>` and `v<l>`; `lengths` are the real lengths of the padded prompts. */
  static async of(
    graphs: CacheGraphs,
    kept: Record<string, DeviceValue>,
    lengths: readonly number[],
    samples: number,
  ): Promise<DeviceCache> {
    const prompt = Array.from({ length: graphs.count }, (_, which) => {
      const layer = Math.floor(which / 2)
      return kept[isKeys(which) ? `k${layer}` : `v${layer}`]
    })
    if (samples > 1)
      return new DeviceCache(graphs, prompt, await graphs.empty(lengths.length * samples), lengths, samples)
    // A row that has its prompt for itself has it before its own tokens.
    const own = await graphs.grow(prompt)
    releaseAll(prompt)
    return new DeviceCache(graphs, [], own, lengths, samples)
  }

  get rows(): number {
    return this.#prompts * this.#samples
  }

  values(): Feeds {
    const { kvHeads, sliding } = this.#graphs.shape
    const [P, G, C, S] = [this.#prompts, this.#samples, this.#capacity, this.#promptLength]
    const ownMask = new Float32Array(this.rows * C).fill(MASKED)
    this.#lengths.forEach((length, row) => {
      ownMask.fill(0, row * C, row * C + length)
    })
    const feeds: Feeds = { ownMask: { data: ownMask, dims: [P, G, C] } }
    if (this.layout.sharedPrompt) feeds.promptMask = { data: this.#promptMask, dims: [P, 1, S] }
    if (sliding)
      Object.assign(
        feeds,
        nearMasks(sliding.window, {
          prompts: this.#promptLengths,
          samples: G,
          promptLength: S,
          lengths: this.#lengths,
          capacity: C,
        }),
      )
    const ofHeads = (x: DeviceValue) => x.reshaped([kvHeads, 1, ...x.dims.slice(1)])
    for (let which = 0; which < this.#graphs.count; which++) {
      const name = `${isKeys(which) ? 'K' : 'V'}${Math.floor(which / 2)}`
      if (this.layout.sharedPrompt) feeds[`prompt${name}`] = ofHeads(this.#prompt[which])
      feeds[`own${name}`] = ofHeads(this.#own[which])
    }
    return feeds
  }

  async append({ kept: { fresh } }: StepOutputs, computed: readonly boolean[]): Promise<void> {
    if (computed.some((did, row) => did && this.#lengths[row] === this.#capacity)) {
      this.#replaceOwn(await this.#graphs.grow(this.#own))
      this.#capacity += BUCKET
    }
    const at = new Uint8Array(this.rows * this.#capacity)
    computed.forEach((did, row) => {
      if (did) at[row * this.#capacity + this.#lengths[row]++] = 1
    })
    const { count, shape } = this.#graphs
    const perLayer = fresh.reshaped([count, shape.kvHeads, this.rows, shape.headDim])
    this.#replaceOwn(await this.#graphs.append(this.#own, perLayer, at, this.rows))
    fresh.release()
  }

  async keep(prompts: readonly number[], rows: readonly (readonly number[])[]): Promise<void> {
    const { length } = this.#lengths
    const before = this.#prompt
    this.#prompt = await this.#graphs.pick(before, this.#prompts, prompts)
    releaseAll(before)
    this.#replaceOwn(await this.#graphs.pick(this.#own, length, rows.flat()))
    this.#promptLengths = this.layout.sharedPrompt ? prompts.map(p => this.#promptLengths[p]) : []
    this.#promptMask = paddingMask(this.#promptLengths, this.#promptLength)
    this.#lengths = Int32Array.from(rows.flat(), row => this.#lengths[row])
    ;[this.#prompts, this.#samples] = [prompts.length, rows[0].length]
  }

  #replaceOwn(own: Layers): void {
    releaseAll(this.#own)
    this.#own = own
  }

  release(): void {
    releaseAll([...this.#prompt, ...this.#own])
    this.#prompt = []
    this.#own = []
  }
}
