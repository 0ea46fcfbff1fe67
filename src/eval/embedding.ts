/** @file A fixed text embedding without a model, and distances in it: hashed n-grams, TF-IDF, a random projection. */

import { countEach, meanKnown } from '../util/descriptive.ts'
import { DataError } from '../util/errors.ts'
import { remembered } from '../util/remembered.ts'
import { Rng } from '../util/rng.ts'
import { bleuWords } from './bleu.ts'

export interface EmbedderOptions {
  /** Dimensions of an embedding. Default 256. */
  dims?: number
  /** Longest word n-gram. Default 2. */
  order?: number
  seed?: number | string
}

const ngrams = (text: string, order: number): string[] => {
  const tokens = bleuWords(text)
  return Array.from({ length: order }, (_, n) =>
    tokens.slice(n).map((_, i) => tokens.slice(i, i + n + 1).join(' ')),
  ).flat()
}

/**
 * Embeds texts by the n-grams in them, weighted by how rare they are in a fixed corpus. Every n-gram has its own random
 * direction, which depends on the seed and the n-gram alone: all arms of an experiment share one embedding.
 */
export class HashedEmbedder {
  readonly #options: Required<EmbedderOptions>
  readonly #documents: number
  readonly #frequency = new Map<string, number>()

  /** @param corpus texts whose n-gram frequencies give the weights, for example responses of the initial policy. */
  constructor(corpus: readonly string[], { dims = 256, order = 2, seed = 0 }: EmbedderOptions = {}) {
    if (!(Number.isInteger(dims) && dims > 0))
      throw new DataError(`dims: expected a positive integer, got ${dims}`)
    this.#options = { dims, order, seed }
    this.#documents = corpus.length
    for (const text of corpus)
      for (const gram of new Set(ngrams(text, order)))
        this.#frequency.set(gram, (this.#frequency.get(gram) ?? 0) + 1)
  }

  /** Unit vector [dims] of a text; all zeros for a text without words. */
  embed(text: string): Float64Array {
    const { dims, order } = this.#options
    const sum = new Float64Array(dims)
    for (const [gram, count] of countEach(ngrams(text, order))) {
      const weight = (1 + Math.log(count)) * this.#rarity(gram)
      const direction = this.#direction(gram)
      for (let d = 0; d < dims; d++) sum[d] += weight * direction[d]
    }
    const norm = Math.hypot(...sum)
    return norm === 0 ? sum : sum.map(x => x / norm)
  }

  /** Smoothed inverse document frequency, never zero. */
  #rarity(gram: string): number {
    return Math.log((1 + this.#documents) / (1 + (this.#frequency.get(gram) ?? 0))) + 1
  }

  readonly #direction = remembered(gram => {
    const rng = new Rng(`${this.#options.seed}/${gram}`)
    return Float64Array.from({ length: this.#options.dims }, () => (rng.next() < 0.5 ? -1 : 1))
  })
}

/** 1 - cos of two vectors of one length; 0 for two zero vectors, 1 where only one is zero. */
export const cosineDistance = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  if (a.length !== b.length) throw new DataError(`cosineDistance: lengths ${a.length} and ${b.length} differ`)
  let [dot, aa, bb] = [0, 0, 0]
  for (let i = 0; i < a.length; i++) {
    dot += a[i] * b[i]
    aa += a[i] * a[i]
    bb += b[i] * b[i]
  }
  if (aa === 0 && bb === 0) return 0
  return aa === 0 || bb === 0 ? 1 : Math.max(0, 1 - dot / Math.sqrt(aa * bb))
}

/** Mean cosine distance over all pairs; null for fewer than two. @param embeddings of the responses to one prompt */
export const semanticDistance = (embeddings: readonly ArrayLike<number>[]): number | null =>
  meanKnown(embeddings.flatMap((a, i) => embeddings.slice(i + 1).map(b => cosineDistance(a, b))))
