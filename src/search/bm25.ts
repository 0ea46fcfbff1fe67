/** @file BM25 as Lucene computes it: what the rarity of a query's terms, their number in a passage and its length are worth. */

import { Best } from '../util/best.ts'
import { countEach } from '../util/descriptive.ts'
import type { Postings } from './postings.ts'

/** Lucene's defaults: saturation of repeated terms, and how much length counts. */
export const BM25_DEFAULTS = { k1: 1.2, b: 0.75 } as const

export interface ScoredPassage {
  passage: number
  score: number
}

/** A before B in a list of results: higher score, then the earlier passage. */
const isBetter = (a: ScoredPassage, b: ScoredPassage): boolean =>
  a.score > b.score || (a.score === b.score && a.passage < b.passage)

/**
 * Scores of passages for a query: sum over its terms, repeated ones as often as they stand there, of idf tf / (tf + k1 (1 - b + b l /
 * mean l)), with idf = ln(1 + (N - n + .5) / (n + .5)) for a term in n of N passages (Robertson and Zaragoza 2009, as in Lucene since
 * version 8, without the constant factor k1 + 1).
 */
export class Bm25 {
  readonly #postings: Postings
  readonly #numbers: ReadonlyMap<string, number>
  /** k1 (1 - b + b l / mean l). [passages] */
  readonly #norms: Float32Array
  /** Zero between queries. [passages] */
  readonly #scores: Float64Array
  /** Passages that have a score. [passages] */
  readonly #touched: Uint32Array

  constructor(postings: Postings, { k1, b }: { k1: number; b: number } = BM25_DEFAULTS) {
    this.#postings = postings
    this.#numbers = new Map(postings.terms.map((term, number) => [term, number]))
    const { lengths } = postings
    const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length
    this.#norms = Float32Array.from(lengths, length => k1 * (1 - b + (b * length) / (mean || 1)))
    this.#scores = new Float64Array(lengths.length)
    this.#touched = new Uint32Array(lengths.length)
  }

  /** What finding a term is worth; 0 for one that stands nowhere. */
  idf(term: string): number {
    const number = this.#numbers.get(term)
    if (number === undefined) return 0
    const { starts, lengths } = this.#postings
    const inPassages = starts[number + 1] - starts[number]
    return Math.log(1 + (lengths.length - inPassages + 0.5) / (inPassages + 0.5))
  }

  /** The best passages that have any of the terms, best first; of equal ones the earlier first. */
  best(terms: readonly string[], top: number): ScoredPassage[] {
    let touched = 0
    for (const [term, times] of countEach(terms)) touched = this.#add(term, times * this.idf(term), touched)
    const best = new Best(top, isBetter)
    for (let at = 0; at < touched; at++) {
      const passage = this.#touched[at]
      best.offer({ passage, score: this.#scores[passage] })
      this.#scores[passage] = 0
    }
    return best.found
  }

  #add(term: string, weight: number, before: number): number {
    const number = this.#numbers.get(term)
    if (number === undefined) return before
    const { starts, passages, counts } = this.#postings
    let touched = before
    for (let at = starts[number]; at < starts[number + 1]; at++) {
      const passage = passages[at]
      const count = counts[at]
      if (this.#scores[passage] === 0) this.#touched[touched++] = passage
      this.#scores[passage] += (weight * count) / (count + this.#norms[passage])
    }
    return touched
  }
}
