/** @file Embeddings without a model: signed hashing of word n-grams. */

import { DataError } from '../util/errors.ts'
import type { Embedder } from './embedder.ts'

export interface HashedOptions {
  /** Length of a vector. Default 256. */
  dims?: number
  /** Longest word n-gram. Default 2. */
  order?: number
}

/** Words and numbers in lower case, in one spelling of their characters; where there are none, the signs. */
const tokensOf = (text: string): string[] => {
  const plain = text.normalize('NFKC').toLowerCase()
  return plain.match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? plain.match(/\S/gu) ?? []
}

/** 32 bits of a text: FNV-1a over its code units, with the finaliser of MurmurHash3, so that every bit depends on all of it. */
const hash32 = (text: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193)
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/**
 * Feature hashing with signs (Weinberger et al. 2009): an n-gram that occurs n times adds ±(1 + ln n) in one place, which its
 * hash names as it names the sign, so that collisions cancel on average. Needs neither corpus nor model, and gives the same
 * vectors everywhere.
 * @example
 * const embedder = new HashedNgrams({ dims: 64 })
 * const [a, b] = await embedder.embed(['a river in France', 'a river in France'])
 * a.every((value, i) => value === b[i]) // true
 */
export class HashedNgrams implements Embedder {
  readonly name: string
  readonly dims: number
  readonly recomputed = true
  readonly #order: number

  /** @throws DataError for sizes that are no positive integers */
  constructor({ dims = 256, order = 2 }: HashedOptions = {}) {
    for (const [name, value] of Object.entries({ dims, order }))
      if (!(Number.isSafeInteger(value) && value > 0))
        throw new DataError(`${name}: expected a positive integer, got ${value}`)
    this.dims = dims
    this.#order = order
    this.name = `hashed-ngrams-1 dims=${dims} order=${order}`
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    return texts.map(text => this.vectorOf(text))
  }

  /** Unit vector [dims] of a text; zeros for one without any sign. */
  vectorOf(text: string): Float32Array {
    const sums = new Float64Array(this.dims)
    for (const [gram, count] of this.#counts(text)) {
      const hash = hash32(gram)
      sums[(hash >>> 1) % this.dims] += ((hash & 1) === 0 ? 1 : -1) * (1 + Math.log(count))
    }
    let squares = 0
    for (const x of sums) squares += x * x
    return Float32Array.from(sums, x => (squares === 0 ? 0 : x / Math.sqrt(squares)))
  }

  #counts(text: string): Map<string, number> {
    const tokens = tokensOf(text)
    const counts = new Map<string, number>()
    for (let from = 0; from < tokens.length; from++) {
      let gram = ''
      for (let to = from; to < Math.min(tokens.length, from + this.#order); to++) {
        gram = to === from ? tokens[to] : `${gram} ${tokens[to]}`
        counts.set(gram, (counts.get(gram) ?? 0) + 1)
      }
    }
    return counts
  }
}
