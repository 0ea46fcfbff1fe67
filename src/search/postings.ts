/** @file Which passages have which terms, and how often: flat arrays, five bytes for a term of a passage. */

import { countEach } from '../util/descriptive.ts'
import { DataError } from '../util/errors.ts'
import { GrowingUint32 } from './growing.ts'

/** Terms by number; the passages of term t are those from `starts[t]` to `starts[t + 1]`, in rising order. */
export interface Postings {
  terms: readonly string[]
  /** [terms + 1] */
  starts: Uint32Array
  /** Passages by number. */
  passages: Uint32Array
  /** How often the term stands in the passage; 255 for that and more. */
  counts: Uint8Array
  /** Terms of each passage, repeated ones as often as they stand there: its length. [passages] */
  lengths: Uint32Array
}

const MOST_COUNT = 255
/** As many as places of 32 bits can tell apart. */
const MOST_POSTINGS = 2 ** 32 - 1

/** Collects passages' terms in order of the passages, and turns them over at the end. */
export class PostingsBuilder {
  readonly #numbers = new Map<string, number>()
  /** Passages that have each term. [terms] */
  readonly #frequencies = new GrowingUint32()
  /** Terms of the passages, one after the other, each once, with `#repeats` beside them. */
  readonly #entries = new GrowingUint32()
  readonly #repeats = new GrowingUint32()
  readonly #distinct = new GrowingUint32()
  readonly #lengths = new GrowingUint32()

  get passages(): number {
    return this.#lengths.length
  }

  /** @throws DataError where there are more than fit */
  add(terms: readonly string[]): void {
    const counts = countEach(terms.map(term => this.#numberOf(term)))
    if (this.#entries.length + counts.size > MOST_POSTINGS)
      throw new DataError(
        `expected at most ${MOST_POSTINGS} terms of passages in one index, got more; build several indexes`,
      )
    for (const [number, count] of counts) {
      this.#frequencies.increment(number)
      this.#entries.push(number)
      this.#repeats.push(Math.min(count, MOST_COUNT))
    }
    this.#distinct.push(counts.size)
    this.#lengths.push(terms.length)
  }

  #numberOf(term: string): number {
    const known = this.#numbers.get(term)
    if (known !== undefined) return known
    const number = this.#numbers.size
    this.#numbers.set(term, number)
    this.#frequencies.push(0)
    return number
  }

  build(): Postings {
    const terms = [...this.#numbers.keys()]
    const starts = new Uint32Array(terms.length + 1)
    for (let term = 0; term < terms.length; term++)
      starts[term + 1] = starts[term] + this.#frequencies.at(term)
    const next = starts.slice(0, terms.length)
    const passages = new Uint32Array(this.#entries.length)
    const counts = new Uint8Array(this.#entries.length)
    let entry = 0
    for (let passage = 0; passage < this.passages; passage++) {
      for (const end = entry + this.#distinct.at(passage); entry < end; entry++) {
        const place = next[this.#entries.at(entry)]++
        passages[place] = passage
        counts[place] = this.#repeats.at(entry)
      }
    }
    return { terms, starts, passages, counts, lengths: this.#lengths.toArray() }
  }
}

/** What is wrong with postings from a file; null where all of it fits together. */
export const postingsFault = ({ terms, starts, passages, counts, lengths }: Postings): string | null => {
  if (starts.length !== terms.length + 1 || starts[0] !== 0) return 'terms and their places differ in number'
  if (starts[terms.length] !== passages.length || counts.length !== passages.length)
    return 'terms of passages and their counts differ in number'
  for (let term = 0; term < terms.length; term++) {
    if (starts[term + 1] < starts[term]) return 'places of terms do not rise'
    for (let at = starts[term]; at < starts[term + 1]; at++) {
      if (passages[at] >= lengths.length) return 'a term stands in a passage that is not there'
      if (at > starts[term] && passages[at] <= passages[at - 1]) return 'passages of a term do not rise'
    }
  }
  return null
}
