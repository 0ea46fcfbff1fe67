/** @file Verdicts that outlast a run: a folder that many processes share, that survives kill -9 and stays within its size. */

import { mkdirSync } from 'node:fs'
import { ConfigError } from '../../../util/errors.ts'
import { asDigest } from './cache-key.ts'
import { DigestIndex, type Place, type Words } from './digest-index.ts'
import { encodeRecord, keyWords } from './record.ts'
import { LONGEST_RECORD, Segment } from './segment.ts'
import {
  evictable,
  listSegments,
  mergeable,
  removeSegments,
  type SegmentFile,
  withUpkeepLock,
  writeMerged,
} from './upkeep.ts'

export interface VerdictCacheOptions {
  /** Size of the folder; the oldest segments go when it is exceeded. Default 512 MiB. */
  maxBytes?: number
  /** How often a miss looks for what other processes have added. Default 500 ms. */
  refreshMs?: number
  /** Called once, when the folder cannot be written any more; the cache then only reads. Default: a process warning. */
  onWarning?: (message: string) => void
}

export interface VerdictCacheStats {
  hits: number
  misses: number
  /** Hits among all look-ups; null before the first. */
  hitRate: number | null
  puts: number
  entries: number
  bytes: number
  segments: number
  /** Lines that a crash or a bad disk spoilt; they were passed over. */
  damaged: number
  evictedSegments: number
  /** False after a write failed: the run goes on without keeping new verdicts. */
  writable: boolean
}

const DEFAULT_MAX_BYTES = 512 * 1024 * 1024
const SMALLEST_MAX_BYTES = 4096
/** A segment of this share of the whole is closed and a new one begun, so that eviction takes small bites. */
const SEGMENT_SHARE = 1 / 8
/** So often the size is looked at, in what this process writes. */
const CHECK_SHARE = 1 / 32

/**
 * A map from 128-bit keys (`cacheKey`) to JSON values. Each process appends to a segment file of its own; all read all.
 * A value that cannot be read back whole is a miss, never something else.
 */
export class VerdictCache<V = unknown> {
  readonly #folder: string
  readonly #maxBytes: number
  readonly #refreshMs: number
  readonly #onWarning: (message: string) => void
  readonly #index = new DigestIndex()
  /** By number; null where the file is gone. */
  readonly #segments: (Segment | null)[] = []
  readonly #numberOf = new Map<string, number>()
  #own: number | null = null
  #refreshedMs = Number.NEGATIVE_INFINITY
  #uncheckedBytes = 0
  #writable = true
  #closed = false
  #hits = 0
  #misses = 0
  #puts = 0
  #damaged = 0
  #evicted = 0

  private constructor(folder: string, options: VerdictCacheOptions) {
    const { maxBytes = DEFAULT_MAX_BYTES, refreshMs = 500, onWarning } = options
    if (!(maxBytes >= SMALLEST_MAX_BYTES))
      throw new ConfigError(
        `verdict cache: maxBytes: expected at least ${SMALLEST_MAX_BYTES}, got ${maxBytes}`,
      )
    this.#folder = folder
    this.#maxBytes = maxBytes
    this.#refreshMs = refreshMs
    this.#onWarning = onWarning ?? (message => process.emitWarning(message, 'GradusWarning'))
  }

  /** Opens a cache, creating its folder where there is none. @throws ConfigError for a folder that cannot be used */
  static open<V = unknown>(folder: string, options: VerdictCacheOptions = {}): VerdictCache<V> {
    const cache = new VerdictCache<V>(folder, options)
    try {
      mkdirSync(folder, { recursive: true })
      cache.#readNew()
    } catch (error) {
      throw new ConfigError(`${folder}: cannot be used as verdict cache (${(error as Error).message})`, {
        hint: 'name a folder that can be read and written',
        cause: error,
      })
    }
    cache.#upkeep()
    return cache
  }

  /** The value of a key, or undefined. A key is any text; `cacheKey` makes one of a verdict. */
  get(key: string): V | undefined {
    const digest = asDigest(key)
    const words = keyWords(digest)
    let json = this.#read(words, digest)
    if (json === null && this.#isRefreshDue()) {
      this.refresh()
      json = this.#read(words, digest)
    }
    if (json === null) {
      this.#misses++
      return undefined
    }
    this.#hits++
    this.#index.markUsed(words)
    return JSON.parse(json) as V
  }

  /**
   * Keeps a value; the last one put under a key counts. Other processes see it within their `refreshMs`. When the disk is
   * full it warns once and does nothing from then on.
   */
  put(key: string, value: V): void {
    if (!this.#writable || this.#closed) return
    const digest = asDigest(key)
    const record = encodeRecord(digest, JSON.stringify(value))
    if (record.length > LONGEST_RECORD) return
    try {
      this.#append(keyWords(digest), record)
      this.#puts++
      this.#uncheckedBytes += record.length
      if (this.#uncheckedBytes < CHECK_SHARE * this.#maxBytes) return
      this.#uncheckedBytes = 0
      this.#readNew()
    } catch (error) {
      this.#stopWriting(error)
      return
    }
    this.#upkeep()
  }

  /** Reads what other processes have added. Happens by itself; a caller that wants it now may ask. */
  refresh(): void {
    try {
      this.#readNew()
    } catch (error) {
      this.#stopWriting(error)
    }
  }

  /** Waits until everything put so far is on the disk itself. */
  flush(): void {
    try {
      if (this.#own !== null) this.#segments[this.#own]?.flush()
    } catch (error) {
      this.#stopWriting(error)
    }
  }

  /** Flushes and lets go of the files; look-ups miss from then on. */
  close(): void {
    if (this.#closed) return
    this.flush()
    this.#closed = true
    for (const number of this.#numberOf.values()) this.#drop(number)
  }

  stats(): VerdictCacheStats {
    const lookups = this.#hits + this.#misses
    const open = this.#segments.filter(segment => segment !== null)
    return {
      hits: this.#hits,
      misses: this.#misses,
      hitRate: lookups === 0 ? null : this.#hits / lookups,
      puts: this.#puts,
      entries: this.#index.countLive(this.#isLive),
      bytes: open.reduce((sum, { bytes }) => sum + bytes, 0),
      segments: open.length,
      damaged: this.#damaged,
      evictedSegments: this.#evicted,
      writable: this.#writable,
    }
  }

  readonly #isLive = (number: number): boolean => this.#segments[number] != null

  #isRefreshDue(): boolean {
    return !this.#closed && performance.now() - this.#refreshedMs >= this.#refreshMs
  }

  #read(words: Words, digest: string): string | null {
    const place = this.#index.get(words)
    const segment = place && this.#segments[place.segment]
    if (!segment) return null
    try {
      return segment.read(place.offset, place.length, digest)
    } catch {
      return null
    }
  }

  #append(words: Words, record: Buffer): void {
    const number = this.#ownSegment()
    const segment = this.#segments[number]!
    const offset = segment.append(record)
    this.#index.set(words, { segment: number, offset, length: record.length }, this.#isLive)
  }

  /** The segment that this process appends to: a new one where there is none, where it is full, or where it was removed. */
  #ownSegment(): number {
    const own = this.#own === null ? null : this.#segments[this.#own]
    if (this.#own !== null && own && own.bytes < SEGMENT_SHARE * this.#maxBytes) return this.#own
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

  /** New segments and new records first, then those that are gone: a merged segment takes over before its parts leave. */
  #readNew(): void {
    if (this.#closed) return
    const files = listSegments(this.#folder)
    for (const { name, bytes } of files) this.#readSegment(name, bytes)
    const present = new Set(files.map(({ name }) => name))
    for (const [name, number] of [...this.#numberOf]) if (!present.has(name)) this.#drop(number)
    this.#refreshedMs = performance.now()
  }

  #readSegment(name: string, bytes: number): void {
    const known = this.#numberOf.get(name)
    if (known !== undefined && (known === this.#own || bytes <= this.#segments[known]!.bytes)) return
    const number = known ?? this.#openSegment(name)
    if (number === null) return
    const enter = (words: Words, offset: number, length: number) =>
      this.#index.set(words, { segment: number, offset, length } satisfies Place, this.#isLive)
    this.#damaged += this.#segments[number]!.scan(enter)
  }

  #openSegment(name: string): number | null {
    try {
      return this.#enter(Segment.open(this.#folder, name))
    } catch (error) {
      // Removed meanwhile, or too many files open: the next look tries again.
      if (['ENOENT', 'EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
      throw error
    }
  }

  /** Evicts and merges where it is due and nobody else is at it. Failing to tidy up is no reason to stop. */
  #upkeep(): void {
    try {
      if (!this.#isUpkeepDue(listSegments(this.#folder))) return
      withUpkeepLock(this.#folder, () => {
        // Looked at again under the lock: another process may just have done it.
        this.#readNew()
        this.#evict(evictable(listSegments(this.#folder), this.#maxBytes))
        this.#merge(mergeable(listSegments(this.#folder), this.#maxBytes, this.#ownName()))
        this.#readNew()
      })
    } catch (error) {
      this.#stopWriting(error)
    }
  }

  #isUpkeepDue(files: readonly SegmentFile[]): boolean {
    return (
      evictable(files, this.#maxBytes).length > 0 ||
      mergeable(files, this.#maxBytes, this.#ownName()).length > 0
    )
  }

  #ownName(): string | null {
    return this.#own === null ? null : (this.#segments[this.#own]?.name ?? null)
  }

  /** Removes segments; what this process asked for in them is written anew, up to an eighth of the whole. */
  #evict(victims: readonly SegmentFile[]): void {
    if (victims.length === 0) return
    if (victims.some(({ name }) => name === this.#ownName())) this.#own = null
    let room = SEGMENT_SHARE * this.#maxBytes
    for (const [words, line] of this.#linesOf(victims)) {
      if (room < line.length || !this.#index.wasUsed(words)) continue
      room -= line.length
      this.#append(words, line)
    }
    removeSegments(this.#folder, victims)
    this.#evicted += victims.length
  }

  #merge(sources: readonly SegmentFile[]): void {
    if (sources.length === 0) return
    const lines = [...this.#linesOf(sources)].map(([, line]) => line)
    writeMerged(this.#folder, sources, lines)
    removeSegments(this.#folder, sources)
  }

  /** Lines of segments that the index points to: whole ones, each key once. */
  *#linesOf(files: readonly SegmentFile[]): Generator<[Words, Buffer]> {
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

  #stopWriting(error: unknown): void {
    if (!this.#writable) return
    this.#writable = false
    this.#onWarning(
      `${this.#folder}: verdicts are not kept any more (${(error as Error).message}); the run goes on without`,
    )
  }
}
