/** @file BLEU of a sentence against references, and self-BLEU: how alike the responses to one prompt are. */

import { countEach, mean } from '../util/descriptive.ts'
import { DataError } from '../util/errors.ts'

/**
 * What a precision of zero becomes before the logarithm. `none`: the whole score is 0; `epsilon`: the numerator is 1e-9;
 * `method1`: it is 0.1 (Chen and Cherry 2014, method 1, as NLTK has it).
 */
export type BleuSmoothing = 'none' | 'epsilon' | 'method1'

export interface BleuOptions {
  /** Longest n-gram; lengths 1..order weigh the same. Default 4. */
  order?: number
  /** Default `epsilon`, so that short responses have a score at all. */
  smoothing?: BleuSmoothing
}

const ZERO_BECOMES: Readonly<Record<BleuSmoothing, number>> = { none: 0, epsilon: 1e-9, method1: 0.1 }

/** Lower-case words, numbers and single signs. */
export const bleuWords = (text: string): string[] =>
  text.toLowerCase().match(/[\p{L}\p{M}]+|\p{N}+|[^\s\p{L}\p{M}\p{N}]/gu) ?? []

const countNgrams = (tokens: readonly string[], n: number): Map<string, number> =>
  countEach(tokens.slice(n - 1).map((_, i) => tokens.slice(i, i + n).join('\u0000')))

/** Counts of the n-grams of every length up to `order`: index 0 holds single words. */
type NgramTable = readonly ReadonlyMap<string, number>[]

const ngramTable = (tokens: readonly string[], order: number): NgramTable =>
  Array.from({ length: order }, (_, i) => countNgrams(tokens, i + 1))

/** Clipped precision of one n-gram length: [matches, n-grams of the candidate], at least one so that it can be divided by. */
const clippedPrecision = (
  candidate: ReadonlyMap<string, number>,
  references: readonly ReadonlyMap<string, number>[],
): [number, number] => {
  let matches = 0
  let total = 0
  for (const [gram, count] of candidate) {
    const most = Math.max(0, ...references.map(reference => reference.get(gram) ?? 0))
    matches += Math.min(count, most)
    total += count
  }
  return [matches, Math.max(1, total)]
}

/** exp(1 - r / c) for candidates shorter than the reference that is closest in length, the shorter of two equally close. */
const brevityPenalty = (length: number, references: readonly number[]): number => {
  if (length === 0) return 0
  const closest = references.reduce((best, r) => {
    const [gap, bestGap] = [Math.abs(r - length), Math.abs(best - length)]
    return gap < bestGap || (gap === bestGap && r < best) ? r : best
  })
  return length >= closest ? 1 : Math.exp(1 - closest / length)
}

interface Counted {
  length: number
  ngrams: NgramTable
}

const bleuOfCounts = (
  candidate: Counted,
  references: readonly Counted[],
  smoothing: BleuSmoothing,
): number => {
  const penalty = brevityPenalty(
    candidate.length,
    references.map(({ length }) => length),
  )
  if (penalty === 0) return 0
  const logs = candidate.ngrams.map((grams, n) => {
    const [matches, total] = clippedPrecision(
      grams,
      references.map(({ ngrams }) => ngrams[n]),
    )
    return Math.log((matches || ZERO_BECOMES[smoothing]) / total)
  })
  return penalty * Math.exp(mean(logs))
}

const counted = (tokens: readonly string[], order: number): Counted => ({
  length: tokens.length,
  ngrams: ngramTable(tokens, order),
})

/**
 * Sentence BLEU (Papineni et al. 2002, section 2.3): geometric mean of clipped n-gram precisions times the brevity penalty,
 * in [0, 1].
 * @param candidate tokens
 * @param references tokens of each reference, at least one
 * @throws DataError without a reference.
 * @example
 * bleu(['the', 'cat', 'sat', 'down'], [['the', 'cat', 'sat', 'down']]) // 1
 */
export const bleu = (
  candidate: readonly string[],
  references: readonly (readonly string[])[],
  { order = 4, smoothing = 'epsilon' }: BleuOptions = {},
): number => {
  if (references.length === 0) throw new DataError('bleu: expected at least one reference, got none')
  return bleuOfCounts(
    counted(candidate, order),
    references.map(reference => counted(reference, order)),
    smoothing,
  )
}

/**
 * Mean BLEU of each response against all others (Zhu et al. 2018, Texygen); 1 for equal texts. Null for fewer than
 * two responses.
 * @param responses tokens of each response to one prompt
 */
export const selfBleu = (
  responses: readonly (readonly string[])[],
  options: BleuOptions = {},
): number | null => {
  if (responses.length < 2) return null
  const { order = 4, smoothing = 'epsilon' } = options
  const all = responses.map(tokens => counted(tokens, order))
  return mean(
    all.map((own, i) =>
      bleuOfCounts(
        own,
        all.filter((_, j) => j !== i),
        smoothing,
      ),
    ),
  )
}

/** 1 - self-BLEU; 0 for fewer than two different responses. @param responses texts answering one prompt */
export const lexicalDiversity = (responses: readonly string[], options: BleuOptions = {}): number => {
  if (new Set(responses).size < 2) return 0
  return 1 - (selfBleu(responses.map(bleuWords), options) ?? 1)
}
