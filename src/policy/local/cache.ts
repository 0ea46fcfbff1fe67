/** @file Keys and values of a running batch: the prompts', shared by their samples, and each sample's own, growing. */

import type { StepLayout } from '../../model/decoding.ts'
import { MASKED } from '../../model/transformer.ts'
import type { DeviceValue, Feeds, TensorValue, Values } from '../../tensor/index.ts'
import { BUCKET, type CacheShape, ROOM_BYTES } from './cache-room.ts'

/** What a run of `stepGraph` gave: arrays, and what stayed on the device. */
export interface StepOutputs {
  values: Record<string, TensorValue>
  kept: Record<string, DeviceValue>
}

/** Keys and values of P prompts with G samples each, where they are computed. */
export interface Cache {
  readonly rows: number
  /** What the graph of a step is to look like. */
  readonly layout: StepLayout
  /** Inputs of the next step. */
  values(): Feeds
  /** Stores the output `fresh` of a step of those rows that computed a token. */
  append(outputs: StepOutputs, computed: readonly boolean[]): void | Promise<void>
  /**
   * Keeps some prompts and some of their samples. `rows[p][g]` is the old row that takes place g of the kept prompt p.
   * Every prompt keeps the same number of places.
   */
  keep(prompts: readonly number[], rows: readonly (readonly number[])[]): void | Promise<void>
  /** Gives its memory back. @param sound whether all that was computed are numbers */
  release(sound: boolean): void
}

/**
 * Memory of caches that are done with, for the next ones: memory that is new costs more time than what is written to it, and stays
 * until garbage is collected. There is never more of it than was in use at one time.
 */
export class CacheMemory {
  readonly #free: ArrayBuffer[] = []

  /** So many floats, of any value, in memory that has room for `most`. */
  take(floats: number, most = floats): Float32Array<ArrayBuffer> {
    const fits = this.#free.findIndex(({ byteLength }) => byteLength >= 4 * most)
    if (fits >= 0) return new Float32Array(this.#free.splice(fits, 1)[0], 0, floats)
    // The smallest is let go for it.
    this.#free.shift()
    return new Float32Array(new ArrayBuffer(4 * roomFor(most)), 0, floats)
  }

  give({ buffer }: Float32Array<ArrayBuffer>): void {
    this.#free.push(buffer)
    this.#free.sort((a, b) => a.byteLength - b.byteLength)
  }

  /** Lets all of it go. */
  clear(): void {
    this.#free.length = 0
  }
}

/** The next power of two, so that memory fits the next cache too. What is never written to takes no memory. */
const roomFor = (floats: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, floats)))

/** 0 for the tokens of prompts, MASKED for their padding: [P, padded]. */
export const paddingMask = (lengths: readonly number[], padded: number): Float32Array => {
  const mask = new Float32Array(lengths.length * padded)
  lengths.forEach((length, p) => {
    mask.fill(MASKED, p * padded + length, (p + 1) * padded)
  })
  return mask
}

/** How far P prompts with G samples each have come: the prompts' lengths, and filled own places of each row, [P*G] of C. */
interface Filled {
  prompts: readonly number[]
  samples: number
  promptLength: number
  lengths: Int32Array
  capacity: number
}

/** 0 for the last `seen(row)` of the first `filled(row)` places, MASKED elsewhere: [rows, places]. */
const lastPlaces = (
  rows: number,
  places: number,
  filled: (row: number) => number,
  seen: (row: number) => number,
): Float32Array => {
  const mask = new Float32Array(rows * places).fill(MASKED)
  for (let row = 0; row < rows; row++) {
    const end = filled(row)
    mask.fill(0, row * places + Math.max(0, end - Math.max(0, seen(row))), row * places + end)
  }
  return mask
}

/** Masks of layers whose tokens see `window` tokens, themselves included. */
export const nearMasks = (
  window: number,
  { prompts, samples, promptLength, lengths, capacity }: Filled,
): Record<string, TensorValue> => {
  const rows = lengths.length
  const own = (row: number) => lengths[row]
  const prompt = (row: number) => prompts[Math.floor(row / samples)]
  const grid = [rows / samples, samples]
  const nearOwnMask = {
    data: lastPlaces(rows, capacity, own, () => window - 1),
    dims: [...grid, capacity],
  }
  if (prompts.length === 0) return { nearOwnMask }
  const data = lastPlaces(rows, promptLength, prompt, row => window - 1 - lengths[row])
  return { nearOwnMask, nearPromptMask: { data, dims: [...grid, promptLength] } }
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

/** Places for so many tokens and the next one. */
const capacityFor = (tokens: number): number => BUCKET * (Math.floor(tokens / BUCKET) + 1)

/**
 * The cache in this process. Layouts are those of `stepGraph`. Samples of one prompt share its keys and values; a row that has its
 * prompt for itself has them before its own.
 */
export class KeyValueCache implements Cache {
  readonly layout: StepLayout
  readonly #shape: CacheShape
  readonly #memory: CacheMemory
  /** Longest shared prompt. */
  readonly #promptLength: number
  #prompts: number
  #samples: number
  #capacity: number
  /** Own places that a row may come to need; 0 where that is too much to have room for. */
  readonly #mostPlaces: number
  /** Of shared prompts: per layer keys, then values, [kvHeads, P, S, headDim]. */
  #prompt: Float32Array[]
  /** Lengths of shared prompts. */
  #promptLengths: readonly number[]
  #promptMask: Float32Array
  /** Per layer keys, then values, [kvHeads, P*G, C, headDim]. */
  #own: Float32Array<ArrayBuffer>[]
  /** [P*G, C] */
  #ownMask: Float32Array
  /** Filled places of each row, [P*G]. */
  #lengths: Int32Array

  /**
   * Takes over the prompt pass's outputs `k<l>` and `v<l>`; `lengths` are the real lengths of the padded prompts.
   * @param newTokens that a row may come to hold after its prompt
   */
  constructor(
    shape: CacheShape,
    memory: CacheMemory,
    prefill: Record<string, TensorValue>,
    lengths: readonly number[],
    padded: number,
    samples: number,
    newTokens: number,
  ) {
    const sharedPrompt = samples > 1
    this.layout = { sharedPrompt }
    this.#shape = shape
    this.#memory = memory
    this.#prompts = lengths.length
    this.#samples = samples
    const layers = Array.from({ length: shape.layers }, (_, layer) => layer)
    const prompt = layers.flatMap(l => [prefill[`k${l}`], prefill[`v${l}`]].map(x => x.data as Float32Array))
    this.#prompt = sharedPrompt ? prompt : []
    this.#promptLength = sharedPrompt ? padded : 0
    this.#promptLengths = sharedPrompt ? lengths : []
    this.#promptMask = paddingMask(this.#promptLengths, padded)
    this.#capacity = capacityFor(sharedPrompt ? 0 : padded)
    const most = capacityFor((sharedPrompt ? 0 : padded) + newTokens)
    this.#mostPlaces = 4 * prompt.length * this.#floatsOf(this.rows, most) <= ROOM_BYTES ? most : 0
    this.#own = prompt.map(() => this.#take(this.rows))
    this.#lengths = sharedPrompt ? new Int32Array(this.rows) : Int32Array.from(lengths)
    this.#ownMask = this.#maskOf(this.#lengths)
    if (!sharedPrompt) for (const [which, own] of this.#own.entries()) this.#begin(own, prompt[which], padded)
  }

  /** Puts the prompts' keys, or values, [kvHeads, P, S, headDim], before the rows' own. */
  #begin(own: Float32Array, prompt: Float32Array, padded: number): void {
    const { kvHeads, headDim } = this.#shape
    for (let block = 0; block < kvHeads * this.rows; block++) {
      const count = this.#lengths[block % this.rows] * headDim
      copyBlock(prompt, block * padded * headDim, own, block * this.#capacity * headDim, count)
    }
  }

  get rows(): number {
    return this.#prompts * this.#samples
  }

  /** Of the keys, or values, of a layer. */
  #floatsOf(rows: number, places: number): number {
    return this.#shape.kvHeads * rows * places * this.#shape.headDim
  }

  get #ownFloats(): number {
    return this.#floatsOf(this.rows, this.#capacity)
  }

  #take(rows: number): Float32Array<ArrayBuffer> {
    const most = Math.max(this.#capacity, this.#mostPlaces)
    return this.#memory.take(this.#floatsOf(rows, this.#capacity), this.#floatsOf(rows, most))
  }

  /** Inputs of the next step. */
  values(): Values {
    const { layers, kvHeads, headDim, sliding } = this.#shape
    const { sharedPrompt } = this.layout
    const prompt = [kvHeads, 1, this.#prompts, this.#promptLength, headDim]
    const own = [kvHeads, 1, this.rows, this.#capacity, headDim]
    const values: Values = {
      ownMask: { data: this.#ownMask, dims: [this.#prompts, this.#samples, this.#capacity] },
    }
    if (sharedPrompt)
      values.promptMask = { data: this.#promptMask, dims: [this.#prompts, 1, this.#promptLength] }
    if (sliding) Object.assign(values, nearMasks(sliding.window, this.#filled))
    for (let layer = 0; layer < layers; layer++) {
      for (const [of, name] of ['K', 'V'].entries()) {
        const which = 2 * layer + of
        if (sharedPrompt) values[`prompt${name}${layer}`] = { data: this.#prompt[which], dims: prompt }
        values[`own${name}${layer}`] = { data: this.#own[which], dims: own }
      }
    }
    return values
  }

  get #filled(): Filled {
    return {
      prompts: this.#promptLengths,
      samples: this.#samples,
      promptLength: this.#promptLength,
      lengths: this.#lengths,
      capacity: this.#capacity,
    }
  }

  append({ values }: Pick<StepOutputs, 'values'>, computed: readonly boolean[]): void {
    const fresh = values.fresh.data as Float32Array // [2*layers, kvHeads, P*G, headDim]
    const lengths = this.#lengths
    if (computed.some((did, row) => did && lengths[row] === this.#capacity)) this.#grow()
    const { kvHeads, headDim } = this.#shape
    const { rows } = this
    const capacity = this.#capacity
    this.#own.forEach((own, which) => {
      for (let block = 0, row = 0; block < kvHeads * rows; block++, row++) {
        if (row === rows) row = 0
        if (!computed[row]) continue
        const from = (which * kvHeads * rows + block) * headDim
        copyBlock(fresh, from, own, (block * capacity + lengths[row]) * headDim, headDim)
      }
    })
    computed.forEach((did, row) => {
      if (did) this.#ownMask[row * capacity + lengths[row]++] = 0
    })
  }

  /** Adds empty places to every row. */
  #grow(): void {
    const { kvHeads, headDim } = this.#shape
    const [before, after] = [this.#capacity * headDim, (this.#capacity + BUCKET) * headDim]
    this.#capacity += BUCKET
    this.#own = this.#own.map(old => {
      const inPlace = old.buffer.byteLength >= 4 * this.#ownFloats
      const next = inPlace ? new Float32Array(old.buffer, 0, this.#ownFloats) : this.#take(this.rows)
      // From the last block on, which moves farthest: what is written over has been moved.
      for (let block = kvHeads * this.rows - 1; block >= 0; block--) {
        const count = this.#lengths[block % this.rows] * headDim
        if (inPlace) next.copyWithin(block * after, block * before, block * before + count)
        else copyBlock(old, block * before, next, block * after, count)
      }
      if (!inPlace) this.#memory.give(old)
      return next
    })
    this.#ownMask = this.#maskOf(this.#lengths)
  }

  #maskOf(lengths: Int32Array): Float32Array {
    const mask = new Float32Array(lengths.length * this.#capacity).fill(MASKED)
    lengths.forEach((length, row) => {
      mask.fill(0, row * this.#capacity, row * this.#capacity + length)
    })
    return mask
  }

  release(sound: boolean): void {
    if (sound) for (const own of this.#own) this.#memory.give(own)
    // What it outgrew it has given already, whatever that held.
    else this.#memory.clear()
    this.#own = []
  }

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
    this.#promptLengths = this.layout.sharedPrompt ? prompts.map(p => this.#promptLengths[p]) : []
    this.#promptMask = paddingMask(this.#promptLengths, this.#promptLength)
    this.#pick(rows.flat())
    ;[this.#prompts, this.#samples] = [prompts.length, rows[0].length]
  }

  /** Takes some rows, in the order given. */
  #pick(rows: readonly number[]): void {
    const { kvHeads, headDim } = this.#shape
    const block = this.#capacity * headDim
    // Where rows only move down, one after the other, nothing is written over that is still to be read.
    const inPlace = rows.every((row, at) => row >= at && (at === 0 || row >= rows[at - 1]))
    this.#own = this.#own.map(old => {
      const next = inPlace
        ? new Float32Array(old.buffer, 0, kvHeads * rows.length * block)
        : this.#take(rows.length)
      for (let head = 0; head < kvHeads; head++)
        rows.forEach((row, at) => {
          const from = (head * this.rows + row) * block
          const to = (head * rows.length + at) * block
          const count = this.#lengths[row] * headDim
          if (inPlace) old.copyWithin(to, from, from + count)
          else copyBlock(old, from, next, to, count)
        })
      if (!inPlace) this.#memory.give(old)
      return next
    })
    this.#lengths = Int32Array.from(rows, row => this.#lengths[row])
    this.#ownMask = this.#maskOf(this.#lengths)
  }
}
