/** @file Seeded random numbers: xoshiro128** seeded through splitmix32, with named forks that do not disturb each other. */

export type RngState = readonly [number, number, number, number]

/** FNV-1a over UTF-16 code units: a stable 32-bit hash of a label. */
export const hashLabel = (label: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < label.length; i++) hash = Math.imul(hash ^ label.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

const splitmix32 = (seed: number) => {
  let a = seed | 0
  return () => {
    a = (a + 0x9e3779b9) | 0
    let t = a ^ (a >>> 16)
    t = Math.imul(t, 0x21f0aaad)
    t ^= t >>> 15
    t = Math.imul(t, 0x735a2d97)
    return (t ^ (t >>> 15)) >>> 0
  }
}

const rotl = (x: number, k: number) => (x << k) | (x >>> (32 - k))

/**
 * A seeded generator. `fork(label)` gives an independent stream that depends on the seed and the label alone,
 * so that drawing more numbers in one place never changes another. Not for cryptography.
 */
export class Rng {
  readonly #origin: string
  #s0: number
  #s1: number
  #s2: number
  #s3: number

  constructor(seed: number | string) {
    this.#origin = String(seed)
    const next = splitmix32(hashLabel(this.#origin))
    this.#s0 = next()
    this.#s1 = next()
    this.#s2 = next()
    this.#s3 = next()
  }

  /** An unsigned 32-bit integer. */
  uint32(): number {
    const result = Math.imul(rotl(Math.imul(this.#s1, 5), 7), 9) >>> 0
    const t = this.#s1 << 9
    this.#s2 ^= this.#s0
    this.#s3 ^= this.#s1
    this.#s1 ^= this.#s2
    this.#s0 ^= this.#s3
    this.#s2 ^= t
    this.#s3 = rotl(this.#s3, 11)
    return result
  }

  /** Uniform in [0, 1) with 53 bits. */
  next(): number {
    return ((this.uint32() >>> 5) * 67108864 + (this.uint32() >>> 6)) / 9007199254740992
  }

  /** Uniform integer in 0..n-1. */
  int(n: number): number {
    return Math.floor(this.next() * n)
  }

  /** Standard normal (Box-Muller; both uniforms drawn afresh, so that the stream has no hidden state). */
  normal(): number {
    const u = 1 - this.next()
    return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * this.next())
  }

  /** One element, uniformly. */
  pick<T>(items: readonly T[]): T {
    return items[this.int(items.length)]
  }

  /** A shuffled copy (Fisher-Yates). */
  shuffle<T>(items: readonly T[]): T[] {
    const copy = [...items]
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.int(i + 1)
      ;[copy[i], copy[j]] = [copy[j], copy[i]]
    }
    return copy
  }

  /** A copy in which every element has another place than before: one random cycle (Sattolo 1986). */
  cycle<T>(items: readonly T[]): T[] {
    const copy = [...items]
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.int(i)
      ;[copy[i], copy[j]] = [copy[j], copy[i]]
    }
    return copy
  }

  /** `count` different elements in random order. */
  sample<T>(items: readonly T[], count: number): T[] {
    return this.shuffle(items).slice(0, count)
  }

  /** An independent stream named by `label`; the same whenever it is asked for, however many numbers were drawn. */
  fork(label: string | number): Rng {
    return new Rng(`${this.#origin}/${label}`)
  }

  /** State to save with a checkpoint; `Rng.from` continues the stream. Forks restart from the seed, so save the seed too. */
  state(): RngState {
    return [this.#s0 >>> 0, this.#s1 >>> 0, this.#s2 >>> 0, this.#s3 >>> 0]
  }

  static from(state: RngState, seed: number | string = 0): Rng {
    const rng = new Rng(seed)
    ;[rng.#s0, rng.#s1, rng.#s2, rng.#s3] = state
    return rng
  }
}

/** A seed as servers take them, a whole number below 2^31, of a name. */
export const seedNumber = (name: string): number => new Rng(name).int(2 ** 31)
