/** @file Rules on how much there is: length in some unit, n-grams that are said again and again. */

import { z } from 'zod'
import { percent } from '../../util/format.ts'
import { band, bandIsSensible, defineRule, inBand } from './rule.ts'
import { charactersIn, fold, paragraphsOf, sentencesOf, wordsOf } from './text.ts'

export interface Repetition {
  /** How often the commonest run occurs. */
  most: number
  /** Share of the runs that occurred before, in [0, 1]. */
  share: number
}

/** Numbers equal things alike, from 0 on, in the order of their first occurrence. */
class Numbering<K> {
  readonly #numbers = new Map<K, number>()

  get size(): number {
    return this.#numbers.size
  }

  of(key: K): number {
    let number = this.#numbers.get(key)
    if (number === undefined) {
      number = this.#numbers.size
      this.#numbers.set(key, number)
    }
    return number
  }
}

/** Equal pairs at a distance get equal numbers: of runs of a words and runs of b words, the runs of `distance` + b. */
const joined = (heads: Uint32Array, tails: Uint32Array, distance: number): Uint32Array => {
  const numbering = new Numbering<number>()
  // Numbers are below 2^26 (a text of more words fits no string), so that a pair is an exact integer.
  const count = Math.max(0, tails.length - distance)
  return Uint32Array.from({ length: count }, (_, at) =>
    numbering.of(heads[at] * 2 ** 26 + tails[at + distance]),
  )
}

/** A number for the run of n words that begins at each place; equal runs have equal numbers. */
const runNumbers = (words: readonly string[], n: number): Uint32Array => {
  const numbering = new Numbering<string>()
  let doubled: Uint32Array = Uint32Array.from(words, word => numbering.of(word))
  let runs: Uint32Array | null = null
  let length = 0
  for (let bit = 1; bit <= n; bit *= 2) {
    if (bit > 1) doubled = joined(doubled, doubled, bit / 2)
    if ((n & bit) === 0) continue
    runs = runs === null ? doubled : joined(runs, doubled, length)
    length += bit
  }
  return runs!
}

/** How often the commonest run of n words occurs, and the share of runs that occurred before. Exact, in linear time. */
export const repetitionOf = (words: readonly string[], n: number): Repetition => {
  if (words.length < n) return { most: 0, share: 0 }
  const runs = runNumbers(words, n)
  const counts = new Uint32Array(runs.length)
  let most = 0
  let distinct = 0
  for (const run of runs) {
    const count = ++counts[run]
    if (count === 1) distinct++
    most = Math.max(most, count)
  }
  return { most, share: 1 - distinct / runs.length }
}

const MEASURES = {
  words: (text: string) => wordsOf(text).length,
  characters: (text: string) => charactersIn(text.trim()),
  sentences: (text: string) => sentencesOf(text).length,
  paragraphs: (text: string) => paragraphsOf(text).length,
  lines: (text: string) => text.split('\n').filter(line => line.trim() !== '').length,
}

type Unit = keyof typeof MEASURES

const lengthRule = defineRule({
  name: 'length',
  about: 'Is so long, in words, characters, sentences, paragraphs or lines that are not blank.',
  params: { ...band, unit: z.enum(Object.keys(MEASURES) as [Unit, ...Unit[]]).default('words') },
  require: [bandIsSensible, 'min or max, and min not above max; say how long the response may be'],
  compile:
    ({ unit, ...limits }) =>
    text =>
      inBand(MEASURES[unit](text), limits, unit),
})

const repetitionRule = defineRule({
  name: 'repetition',
  about: 'Does not repeat itself: runs of n words occur at most so often, or make up at most such a share.',
  params: {
    n: z.int().min(1).max(50).default(4),
    maxTimes: z.int().min(1).optional(),
    maxShare: z.number().min(0).max(1).optional(),
  },
  require: [
    ({ maxTimes, maxShare }) => maxTimes !== undefined || maxShare !== undefined,
    'maxTimes or maxShare; say how much repetition is too much',
  ],
  compile:
    ({ n, maxTimes = Number.POSITIVE_INFINITY, maxShare = 1 }) =>
    text => {
      const { most, share } = repetitionOf(wordsOf(fold(text)), n)
      return {
        met: most <= maxTimes && share <= maxShare,
        explanation: `a run of ${n} words occurs ${most} times at most, ${percent(share)} are repeats`,
      }
    },
})

export const LENGTH_RULES = [lengthRule, repetitionRule]
