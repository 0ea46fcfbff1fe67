/** @file Unit vectors in places with numbers, and the k most alike to one of them: exact, without looking at every float. */

import { Best } from '../util/best.ts'
import { DataError } from '../util/errors.ts'
import { kernelMemory, loadKernels, PAGE_BYTES, type WasmMemory } from '../util/kernels.ts'

/** What assembly/nearest.ts exports. */
interface Kernels {
  products(query: number, vectors: number, dims: number, count: number, out: number): void
}

export interface Neighbour {
  place: number
  /** Inner product with the query. */
  score: number
}

/** Vectors whose floats lie together, and whose products one call of the kernel makes. */
const BLOCK = 1024
/** Bytes go from -127 to 127. */
const LEVELS = 127
/** What float32 rounding may add to an error bound. */
const SLACK = 1e-5

/** A vector in signed bytes: x is about `scale` times its byte; `error` is the length of the rest. */
const quantised = (vector: Float32Array, into: Int8Array): { scale: number; error: number } => {
  let largest = 0
  for (const x of vector) largest = Math.max(largest, Math.abs(x))
  const scale = largest / LEVELS
  if (scale === 0) return { scale: 0, error: 0 }
  let squares = 0
  for (let d = 0; d < vector.length; d++) {
    into[d] = Math.round(vector[d] / scale)
    squares += (vector[d] - scale * into[d]) ** 2
  }
  return { scale, error: Math.sqrt(squares) }
}

/**
 * Places are counted from 0; new ones are appended in blocks, so that what is there is never copied, and any place may be
 * written again. A search first compares bytes, a quarter of the memory to walk through, in a SIMD kernel. How far such a
 * product can be from the true one is known (Cauchy-Schwarz), and whatever could be among the k best is compared in floats.
 */
export class VectorStore {
  readonly dims: number
  /** `dims` rounded up to what the kernel works on at a time. */
  readonly #padded: number
  readonly #floats: Float32Array[] = []
  readonly #memory: WasmMemory
  readonly #kernels: Kernels
  /** Bytes where a query, the products of a block, and the vectors begin. */
  readonly #outAt: number
  readonly #vectorsAt: number
  #scales: Float32Array = new Float32Array(BLOCK)
  #largestError = 0
  #size = 0

  /** @throws DataError unless `dims` is a positive integer */
  constructor(dims: number) {
    if (!(Number.isSafeInteger(dims) && dims > 0))
      throw new DataError(`vectors: expected a positive number of dimensions, got ${dims}`)
    this.dims = dims
    this.#padded = 16 * Math.ceil(dims / 16)
    this.#outAt = this.#padded
    this.#vectorsAt = this.#outAt + 4 * BLOCK
    this.#memory = kernelMemory(Math.ceil(this.#vectorsAt / PAGE_BYTES))
    this.#kernels = loadKernels<Kernels>('nearest', this.#memory)
  }

  /** Places that there are. */
  get size(): number {
    return this.#size
  }

  /** Writes a unit vector [dims] to a place, which may be the next new one. */
  set(place: number, vector: Float32Array): void {
    if (vector.length !== this.dims)
      throw new DataError(`vectors: expected ${this.dims} dimensions, got ${vector.length}`)
    if (place === this.#size) this.#grow()
    this.#viewOf(place).set(vector)
    const at = this.#vectorsAt + place * this.#padded
    const { scale, error } = quantised(vector, new Int8Array(this.#memory.buffer, at, this.#padded).fill(0))
    this.#scales[place] = scale
    this.#largestError = Math.max(this.#largestError, error)
  }

  /** The vector at a place: a view, good until the place is written again. */
  at(place: number): Float32Array {
    return this.#viewOf(place)
  }

  #viewOf(place: number): Float32Array {
    const from = (place % BLOCK) * this.dims
    return this.#floats[Math.floor(place / BLOCK)].subarray(from, from + this.dims)
  }

  #grow(): void {
    const place = this.#size++
    if (place % BLOCK !== 0) return
    this.#floats.push(new Float32Array(BLOCK * this.dims))
    const needed = this.#vectorsAt + (place + BLOCK) * this.#padded - this.#memory.buffer.byteLength
    if (needed > 0) this.#memory.grow(Math.ceil(needed / PAGE_BYTES))
    if (this.#scales.length > place) return
    const scales = new Float32Array(2 * this.#scales.length)
    scales.set(this.#scales)
    this.#scales = scales
  }

  /**
   * The k places with the largest inner products, largest first.
   * @param query unit vector [dims]
   * @param isOpen whether a place may be an answer
   * @param before says of two places with the same product which comes first, so that the order never depends on places
   */
  nearest(
    query: Float32Array,
    k: number,
    isOpen: (place: number) => boolean,
    before: (a: number, b: number) => boolean,
  ): Neighbour[] {
    if (query.length !== this.dims)
      throw new DataError(`vectors: expected a query of ${this.dims} dimensions, got ${query.length}`)
    if (k <= 0 || this.#size === 0) return []
    const { scores, error } = this.#roughScores(query)
    const best = new Best<Neighbour>(
      k,
      (a, b) => a.score > b.score || (a.score === b.score && before(a.place, b.place)),
    )
    const floor = kthLargest(scores, this.#size, k, isOpen) - 2 * (error + SLACK)
    for (let place = 0; place < this.#size; place++)
      if (scores[place] >= floor && isOpen(place))
        best.offer({ place, score: dot(query, this.#viewOf(place)) })
    return best.found
  }

  /** Products by bytes, and how far they may be from the true ones at most. */
  #roughScores(query: Float32Array): { scores: Float32Array; error: number } {
    const bytes = new Int8Array(this.#memory.buffer, 0, this.#padded).fill(0)
    const { scale, error } = quantised(query, bytes)
    const out = new Int32Array(this.#memory.buffer, this.#outAt, BLOCK)
    const scores = new Float32Array(this.#size)
    for (let from = 0; from < this.#size; from += BLOCK) {
      const count = Math.min(BLOCK, this.#size - from)
      const vectors = this.#vectorsAt + from * this.#padded
      this.#kernels.products(0, vectors, this.#padded, count, this.#outAt)
      for (let i = 0; i < count; i++) scores[from + i] = out[i] * scale * this.#scales[from + i]
    }
    // |x y - x' y'| <= |x - x'| |y| + |x'| |y - y'|, with |y| <= 1 and |x'| <= 1 + |x - x'|.
    const items = this.#largestError
    return { scores, error: items + (1 + items) * error }
  }
}

/** Inner product in float64, in the order of the dimensions. */
const dot = (a: Float32Array, b: Float32Array): number => {
  let sum = 0
  for (let d = 0; d < a.length; d++) sum += a[d] * b[d]
  return sum
}

/** The k-th largest of the open scores; -Infinity where there are fewer. */
const kthLargest = (
  scores: Float32Array,
  count: number,
  k: number,
  isOpen: (place: number) => boolean,
): number => {
  const best = new Best<number>(k, (a, b) => a > b)
  const worst = () => best.found[k - 1] ?? Number.NEGATIVE_INFINITY
  for (let place = 0; place < count; place++)
    if (scores[place] > worst() && isOpen(place)) best.offer(scores[place])
  return worst()
}
