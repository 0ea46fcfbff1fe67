/** @file Lists of numbers that grow to millions: four or one bytes each, and never copied as a whole while they grow. */

const CHUNK = 1 << 20

/** Unsigned numbers of 32 bits, in the order in which they were added. */
export class GrowingUint32 {
  readonly #chunks: Uint32Array[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  push(value: number): void {
    const at = this.#length % CHUNK
    if (at === 0) this.#chunks.push(new Uint32Array(CHUNK))
    this.#chunks[this.#chunks.length - 1][at] = value
    this.#length++
  }

  at(index: number): number {
    return this.#chunks[Math.floor(index / CHUNK)][index % CHUNK]
  }

  /** Adds one to an entry, which is there. */
  increment(index: number): void {
    this.#chunks[Math.floor(index / CHUNK)][index % CHUNK]++
  }

  /** All of them in one array. */
  toArray(): Uint32Array {
    const all = new Uint32Array(this.#length)
    for (const [index, chunk] of this.#chunks.entries())
      all.set(chunk.subarray(0, Math.min(CHUNK, this.#length - index * CHUNK)), index * CHUNK)
    return all
  }
}
