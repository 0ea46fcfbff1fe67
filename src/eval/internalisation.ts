/** @file Internalisation: whether a policy without its scaffold writes what it writes with it. */

import { meanKnown } from '../util/descriptive.ts'
import { cosineDistance } from './embedding.ts'

/** Embeddings of four responses to one prompt, and the score of the new policy's own one. */
export interface InternalisationItem {
  /** y1, from the initial policy. */
  initial: ArrayLike<number>
  /** y2, from the new policy on the plain prompt. */
  plain: ArrayLike<number>
  /** y2', a second independent sample of the same. */
  again: ArrayLike<number>
  /** y3, from the new policy with the scaffold. */
  scaffolded: ArrayLike<number>
  /** Rubric score of y2. */
  score: number
}

export interface Internalisation {
  /** Prompts whose score is above the threshold. */
  n: number
  /** Mean distance between y1 and y2: what training changed. */
  initialToPlain: number | null
  /** Between y2 and y3: what the scaffold still changes. */
  plainToScaffolded: number | null
  /** Between y2 and y2': how far two samples of one policy are apart anyway; y2 to y3 has to be read against this. */
  plainToItself: number | null
}

/**
 * Mean distances over the prompts that the new policy scores above `threshold` on (RuscaRL appendix C.7), with the
 * self-distance that the paper lacks (RuscaRL).
 */
export const internalisation = (
  items: readonly InternalisationItem[],
  threshold: number,
): Internalisation => {
  const kept = items.filter(({ score }) => score > threshold)
  const meanDistance = (pick: (item: InternalisationItem) => ArrayLike<number>) =>
    meanKnown(kept.map(item => cosineDistance(item.plain, pick(item))))
  return {
    n: kept.length,
    initialToPlain: meanDistance(({ initial }) => initial),
    plainToScaffolded: meanDistance(({ scaffolded }) => scaffolded),
    plainToItself: meanDistance(({ again }) => again),
  }
}
