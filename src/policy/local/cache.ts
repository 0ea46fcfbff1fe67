/** @file Keys and values of a running batch: the prompts', shared by their samples, and each sample's own, growing. */

import { MASKED } from '../../model/transformer.ts'
import type { DeviceValue, Feeds, Value, Values } from '../../tensor/index.ts'

/** Own places are allocated this many at a time. */
export const BUCKET = 32

export interface CacheShape {
  layers: number
  kvHeads: number
  headDim: number
}

/** What a run of `stepGraph` gave: arrays, and what stayed on the device. */
export interface StepOutputs {
  values: Record<string, Value>
  kept: Record<string, DeviceValue>
}

/** Keys and values of P prompts with G samples each, where they are computed. */
export interface Cache {
  readonly rows: number
  /** Inputs of the next step. */
  values(): Feeds
  /** Stores the output `fresh` of a step of those rows that computed a token. */
  append(outputs: StepOutputs, computed: readonly boolean[]): void | Promise<void>
  /**
   * Keeps some prompts and some of their samples. `rows[p][g]` is the old row that takes place g of the kept prompt p.
   * Every prompt keeps the same number of places.
   */
  keep(prompts: readonly number[], rows: readonly (readonly number[])[]): void | Promise<void>
  /** Gives its memory back. */
  release(): void
}

const copyBlock = (
  source: Float32Array,
  from: number,
  target: Float32Array,
  to: number,
  count: number,
): void => {
  // Short blocks: a plain loop is faster than making two views.
  if (count <= 128) for (let i = 0; i < count; i++) target[to + i] = source[from + i]
  else target.set(source.subarray(from, from + count), to)
}

/** The cache in this process. Layouts are those of `stepGraph`. */
export class KeyValueCache implements Cache {
  readonly #shape: CacheShape
  /** Longest prompt. */
  readonly #promptLength: number
  #prompts: number
  #samples: number
  #capacity = BUCKET
  /** Per layer keys, then values, [kvHeads, P, S, headDim]. */
  #prompt: Float32Array[]
  #promptMask: Float32Array
  /** Per layer keys, then values, [kvHeads, P*G, C, headDim]. */
  #own: Float32Array[]
  /** What `#own` was before it was last rearranged: memory for the next time, its contents never looked at. */
  #spare: Float32Array[] = []
  /** [P*G, C] */
  #ownMask: Float32Array
  /** Filled places of each row, [P*G]. */
  #lengths: Int32Array

  /** Takes over the prompt pass's outputs `k<l>` and `v<l>`; `lengths` are the real lengths of the padded prompts. */
  constructor(
    shape: CacheShape,
    prefill: Record<string, Value>,
    lengths: readonly number[],
    padded: number,
    samples: number,
  ) {
    this.#shape = shape
    this.#promptLength = padded
    this.#prompts = lengths.length
    this.#samples = samples
    const layers = Array.from({ length: shape.layers }, (_, layer) => layer)
    this.#prompt = layers.flatMap(l => [prefill[`k${l}`], prefill[`v${l}`]].map(x => x.data as Float32Array))
    this.#promptMask = new Float32Array(lengths.length * padded)
    lengths.forEach((length, p) => {
      this.#promptMask.fill(MASKED, p * padded + length, (p + 1) * padded)
    })
    this.#own = this.#emptyOwn()
    this.#ownMask = new Float32Array(this.rows * this.#capacity).fill(MASKED)
    this.#lengths = new Int32Array(this.rows)
  }

  get rows(): number {
    return this.#prompts * this.#samples
  }

  #emptyOwn(): Float32Array[] {
    const { layers, kvHeads, headDim } = this.#shape
    const size = kvHeads * this.rows * this.#capacity * headDim
    return Array.from({ length: 2 * layers }, (_, which) => {
      const memory = this.#spare[which]?.buffer
      return memory && memory.byteLength >= 4 * size
        ? new Float32Array(memory, 0, size)
        : new Float32Array(size)
    })
  }

  /** Inputs of the next step. */
  values(): Values {
    const { layers, kvHeads, headDim } = this.#shape
    const prompt = [kvHeads, this.#prompts, this.#promptLength, headDim]
    const own = [kvHeads, this.#prompts, this.#samples, this.#capacity, headDim]
    const values: Values = {
      promptMask: { data: this.#promptMask, dims: [this.#prompts, 1, this.#promptLength] },
      ownMask: { data: this.#ownMask, dims: [this.#prompts, this.#samples, this.#capacity] },
    }
    for (let layer = 0; layer < layers; layer++) {
      for (const [of, name] of ['K', 'V'].entries()) {
        values[`prompt${name}${layer}`] = { data: this.#prompt[2 * layer + of], dims: prompt }
        values[`own${name}${layer}`] = { data: this.#own[2 * layer + of], dims: own }
      }
    }
    return values
  }

  append({ values }: Pick<StepOutputs, 'values'>, computed: readonly boolean[]): void {
    const fresh = values.fresh.data as Float32Array // [2*layers, kvHeads, P*G, headDim]
    if (computed.some((did, row) => did && this.#lengths[row] === this.#capacity)) this.#grow()
    const { kvHeads, headDim } = this.#shape
    const blocks = kvHeads * this.rows
    this.#own.forEach((own, which) => {
      for (let block = 0; block < blocks; block++) {
        const row = block % this.rows
        if (!computed[row]) continue
        const length = this.#lengths[row]
        const from = (which * blocks + block) * headDim
        copyBlock(fresh, from, own, (block * this.#capacity + length) * headDim, headDim)
      }
    })
    computed.forEach((did, row) => {
      if (did) this.#ownMask[row * this.#capacity + this.#lengths[row]++] = 0
    })
  }

  #grow(): void {
    const rows = Array.from({ length: this.rows }, (_, row) => row)
    this.#rearrange(rows, this.#capacity + BUCKET)
  }

  /** Memory of arrays is the garbage collector's. */
  release(): void {}

  keep(prompts: readonly number[], rows: readonly (readonly number[])[]): void {
    const { kvHeads, headDim } = this.#shape
    const block = this.#promptLength * headDim
    this.#prompt = this.#prompt.map(old => {
      const next = new Float32Array(kvHeads * prompts.length * block)
      for (let head = 0; head < kvHeads; head++)
        prompts.forEach((p, at) => {
          copyBlock(
            old,
            (head * this.#prompts + p) * block,
            next,
            (head * prompts.length + at) * block,
            block,
          )
        })
      return next
    })
    const mask = new Float32Array(prompts.length * this.#promptLength)
    prompts.forEach((p, at) => {
      copyBlock(this.#promptMask, p * this.#promptLength, mask, at * this.#promptLength, this.#promptLength)
    })
    this.#promptMask = mask
    this.#rearrange(rows.flat(), this.#capacity, { prompts: prompts.length, samples: rows[0].length })
  }

  #rearrange(rows: readonly number[], capacity: number, layout?: { prompts: number; samples: number }): void {
    const { kvHeads, headDim } = this.#shape
    const old = { own: this.#own, rows: this.rows, capacity: this.#capacity }
    const lengths = Int32Array.from(rows, row => this.#lengths[row])
    if (layout) [this.#prompts, this.#samples] = [layout.prompts, layout.samples]
    this.#capacity = capacity
    this.#own = this.#emptyOwn()
    this.#own.forEach((next, which) => {
      for (let head = 0; head < kvHeads; head++)
        rows.forEach((row, at) => {
          const from = (head * old.rows + row) * old.capacity * headDim
          const to = (head * rows.length + at) * capacity * headDim
          copyBlock(old.own[which], from, next, to, lengths[at] * headDim)
        })
    })
    this.#spare = old.own
    this.#lengths = lengths
    this.#ownMask = new Float32Array(rows.length * capacity).fill(MASKED)
    lengths.forEach((length, at) => {
      this.#ownMask.fill(0, at * capacity, at * capacity + length)
    })
  }
}
