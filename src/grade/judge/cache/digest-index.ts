/** @file From a 128-bit key to a place in a file: an open-addressed table in one typed array, some 60 bytes an entry. */

export type Words = readonly [number, number, number, number]

export interface SegmentPlace {
  segment: number
  offset: number
  length: number
}

/** Words of a slot: four of the key, segment + 1 (0: free), offset, length with the top bit as "was asked for". */
const SLOT = 7
const SEGMENT = 4
const OFFSET = 5
const LENGTH = 6
const USED_BIT = 0x80000000
const LENGTH_MASK = 0x7fffffff
const FULLEST = 0.7

export class DigestIndex {
  /** Slots; a power of two. */
  #capacity = 1024
  #slots = new Uint32Array(this.#capacity * SLOT)
  #size = 0

  /** Position of the key's slot, or of the free slot where it belongs. */
  #find([a, b, c, d]: Words): number {
    const slots = this.#slots
    // Keys are hashes already: the first word is as good as any.
    for (let slot = (a & (this.#capacity - 1)) >>> 0; ; slot = (slot + 1) & (this.#capacity - 1)) {
      const at = slot * SLOT
      if (slots[at + SEGMENT] === 0) return at
      if (slots[at] === a && slots[at + 1] === b && slots[at + 2] === c && slots[at + 3] === d) return at
    }
  }

  get(words: Words): SegmentPlace | null {
    const at = this.#find(words)
    const slots = this.#slots
    if (slots[at + SEGMENT] === 0) return null
    return {
      segment: slots[at + SEGMENT] - 1,
      offset: slots[at + OFFSET],
      length: slots[at + LENGTH] & LENGTH_MASK,
    }
  }

  /** Enters a key, or moves one that is known. `isLive` says which segments still exist: entries of others are dropped when the table grows. */
  set(words: Words, { segment, offset, length }: SegmentPlace, isLive: (segment: number) => boolean): void {
    if (this.#size >= FULLEST * this.#capacity) this.#rebuild(isLive)
    const at = this.#find(words)
    const slots = this.#slots
    if (slots[at + SEGMENT] === 0) {
      this.#size++
      slots.set(words, at)
    }
    slots[at + SEGMENT] = segment + 1
    slots[at + OFFSET] = offset
    slots[at + LENGTH] = length | (slots[at + LENGTH] & USED_BIT)
  }

  markUsed(words: Words): void {
    const at = this.#find(words)
    if (this.#slots[at + SEGMENT] !== 0) this.#slots[at + LENGTH] |= USED_BIT
  }

  wasUsed(words: Words): boolean {
    return (this.#slots[this.#find(words) + LENGTH] & USED_BIT) !== 0
  }

  /** Entries whose segment still exists. */
  countLive(isLive: (segment: number) => boolean): number {
    let live = 0
    for (let at = 0; at < this.#slots.length; at += SLOT) {
      const segment = this.#slots[at + SEGMENT]
      if (segment !== 0 && isLive(segment - 1)) live++
    }
    return live
  }

  /** Into a table with room, without the entries of segments that are gone. */
  #rebuild(isLive: (segment: number) => boolean): void {
    const old = this.#slots
    const live = this.countLive(isLive)
    while (live >= (FULLEST / 2) * this.#capacity) this.#capacity *= 2
    this.#slots = new Uint32Array(this.#capacity * SLOT)
    this.#size = live
    for (let at = 0; at < old.length; at += SLOT) {
      if (old[at + SEGMENT] === 0 || !isLive(old[at + SEGMENT] - 1)) continue
      const target = this.#find([old[at], old[at + 1], old[at + 2], old[at + 3]])
      this.#slots.set(old.subarray(at, at + SLOT), target)
    }
  }
}
