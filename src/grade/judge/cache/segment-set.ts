/** @file All segments of a folder with the index over them: what is known, what others have added, what is gone. */

import { DigestIndex, type SegmentPlace, type Words } from './digest-index.ts'
import { Segment } from './segment.ts'
import { listSegments, type SegmentFile } from './upkeep.ts'

/** The next look tries again: removed meanwhile, or too many files open. */
const PASSING = ['ENOENT', 'EMFILE', 'ENFILE']

export class SegmentSet {
  readonly #folder: string
  /** Size at which the own segment is closed and a new one begun. */
  readonly #segmentBytes: number
  readonly #index = new DigestIndex()
  /** By number; null where the file is gone. */
  readonly #segments: (Segment | null)[] = []
  readonly #numberOf = new Map<string, number>()
  #own: number | null = null
  /** When another process last wrote, as milliseconds since 1970. */
  othersWroteMs = Number.NEGATIVE_INFINITY
  /** Lines that a crash or a bad disk spoilt. */
  damaged = 0

  constructor(folder: string, segmentBytes: number) {
    this.#folder = folder
    this.#segmentBytes = segmentBytes
  }

  /** Name of the segment that this process appends to; null before the first record. */
  get ownName(): string | null {
    return this.#own === null ? null : (this.#segments[this.#own]?.name ?? null)
  }

  /** JSON text of a key's value; null where there is none, or it cannot be read back whole. */
  read(words: Words, digest: string): string | null {
    const place = this.#index.get(words)
    const segment = place && this.#segments[place.segment]
    if (!segment) return null
    try {
      return segment.read(place.offset, place.length, digest)
    } catch {
      return null
    }
  }

  /** Remembers that a key was asked for: an eviction keeps it. */
  markUsed(words: Words): void {
    this.#index.markUsed(words)
  }

  wasUsed(words: Words): boolean {
    return this.#index.wasUsed(words)
  }

  /** @throws what the file system throws, a full disk for example */
  append(words: Words, record: Buffer): void {
    const number = this.#ownSegment()
    const offset = this.#segments[number]!.append(record)
    this.#index.set(words, { segment: number, offset, length: record.length }, this.#isLive)
  }

  /** New segments and new records first, then those that are gone: a merged segment takes over before its parts leave. */
  readNew(): void {
    const files = listSegments(this.#folder)
    for (const { name, bytes, changedMs } of files) {
      this.#readSegment(name, bytes)
      if (name !== this.ownName) this.othersWroteMs = Math.max(this.othersWroteMs, changedMs)
    }
    const present = new Set(files.map(({ name }) => name))
    for (const [name, number] of [...this.#numberOf]) if (!present.has(name)) this.#drop(number)
  }

  /** Lines of segments that the index points to: whole ones, each key once. */
  *linesOf(files: readonly SegmentFile[]): Generator<[Words, Buffer]> {
    for (const { name } of files) {
      const number = this.#numberOf.get(name)
      const segment = number === undefined ? null : this.#segments[number]
      if (!segment) continue
      for (const [words, offset, length] of segment.places()) {
        const place = this.#index.get(words)
        if (place !== null && place.segment === number && place.offset === offset)
          yield [words, segment.line(offset, length)]
      }
    }
  }

  /** The next record goes to a new segment. */
  leaveOwn(): void {
    this.#own = null
  }

  flush(): void {
    if (this.#own !== null) this.#segments[this.#own]?.flush()
  }

  close(): void {
    for (const number of [...this.#numberOf.values()]) this.#drop(number)
  }

  count(): { entries: number; bytes: number; segments: number } {
    const open = this.#segments.filter(segment => segment !== null)
    return {
      entries: this.#index.countLive(this.#isLive),
      bytes: open.reduce((sum, { bytes }) => sum + bytes, 0),
      segments: open.length,
    }
  }

  readonly #isLive = (number: number): boolean => this.#segments[number] != null

  /** The segment that this process appends to: a new one where there is none, where it is full, or where it was removed. */
  #ownSegment(): number {
    const own = this.#own === null ? null : this.#segments[this.#own]
    if (this.#own !== null && own && own.bytes < this.#segmentBytes) return this.#own
    this.#own = this.#enter(Segment.create(this.#folder))
    return this.#own
  }

  #enter(segment: Segment): number {
    const number = this.#segments.push(segment) - 1
    this.#numberOf.set(segment.name, number)
    return number
  }

  #drop(number: number): void {
    const segment = this.#segments[number]
    if (!segment) return
    segment.close()
    this.#segments[number] = null
    this.#numberOf.delete(segment.name)
    if (this.#own === number) this.#own = null
  }

  #readSegment(name: string, bytes: number): void {
    const known = this.#numberOf.get(name)
    if (known !== undefined && (known === this.#own || bytes <= this.#segments[known]!.bytes)) return
    const number = known ?? this.#openSegment(name)
    if (number === null) return
    const enter = (words: Words, offset: number, length: number) =>
      this.#index.set(words, { segment: number, offset, length } satisfies SegmentPlace, this.#isLive)
    this.damaged += this.#segments[number]!.scan(enter)
  }

  #openSegment(name: string): number | null {
    try {
      return this.#enter(Segment.open(this.#folder, name))
    } catch (error) {
      if (PASSING.includes((error as NodeJS.ErrnoException).code ?? '')) return null
      throw error
    }
  }
}
