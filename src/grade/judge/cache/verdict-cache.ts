/** @file Verdicts that outlast a run: a folder that many processes share, that survives kill -9 and stays within its size. */

import { mkdirSync } from 'node:fs'
import { ConfigError } from '../../../util/errors.ts'
import { asDigest } from './cache-key.ts'
import { Claims } from './claims.ts'
import { encodeRecord, keyWords } from './record.ts'
import { LONGEST_RECORD } from './segment.ts'
import { SegmentSet } from './segment-set.ts'
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
  /** Size of the folder; the oldest segments go when it is exceeded. Default 1 GiB. */
  maxBytes?: number
  /** How often a miss looks for what other processes have added. Default 500 ms. */
  refreshMs?: number
  /** Nothing is written, moved or removed; the folder must be there. Default false. */
  readOnly?: boolean
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
  /** False after a write failed: the run goes on without keeping new verdicts; also where it may only read. */
  writable: boolean
}

export const DEFAULT_MAX_BYTES = 2 ** 30
const SMALLEST_MAX_BYTES = 4096
/** A segment of this share of the whole is closed and a new one begun, so that eviction takes small bites. */
const SEGMENT_SHARE = 1 / 8
/** Who has not written for so long does not ask the same questions now. */
const OTHERS_GONE_MS = 60_000
/** So often the size is looked at, in what this process writes. */
const CHECK_SHARE = 1 / 32

/**
 * A map from 128-bit keys (`cacheKey`) to JSON values. Each process appends to a segment file of its own; all read all.
 * A value that cannot be read back whole is a miss, never something else.
 * @example
 * const cache = VerdictCache.open('verdicts')
 * cache.put('is it polite?', { met: true })
 * cache.close()
 * const again = VerdictCache.open('verdicts')
 * again.get('is it polite?') // { met: true }
 * again.get('is it right?') // undefined
 * again.close()
 */
export class VerdictCache<V = unknown> {
  readonly #folder: string
  readonly #maxBytes: number
  readonly #refreshMs: number
  readonly #onWarning: (message: string) => void
  readonly #segments: SegmentSet
  readonly #claims: Claims
  #refreshedMs = Number.NEGATIVE_INFINITY
  #uncheckedBytes = 0
  #writable: boolean
  #closed = false
  #hits = 0
  #misses = 0
  #puts = 0
  #evicted = 0

  private constructor(folder: string, options: VerdictCacheOptions) {
    const { maxBytes = DEFAULT_MAX_BYTES, refreshMs = 500, readOnly = false, onWarning } = options
    if (!(maxBytes >= SMALLEST_MAX_BYTES))
      throw new ConfigError(
        `verdict cache: maxBytes: expected at least ${SMALLEST_MAX_BYTES}, got ${maxBytes}`,
      )
    this.#folder = folder
    this.#maxBytes = maxBytes
    this.#refreshMs = refreshMs
    this.#writable = !readOnly
    this.#onWarning = onWarning ?? (message => process.emitWarning(message, 'GradusWarning'))
    this.#claims = new Claims(folder)
    this.#segments = new SegmentSet(folder, SEGMENT_SHARE * maxBytes)
  }

  /** Opens a cache, creating its folder where there is none. @throws ConfigError for a folder that cannot be used */
  static open<V = unknown>(folder: string, options: VerdictCacheOptions = {}): VerdictCache<V> {
    const cache = new VerdictCache<V>(folder, options)
    try {
      if (options.readOnly !== true) mkdirSync(folder, { recursive: true })
      cache.#readNew()
    } catch (error) {
      throw new ConfigError(`${folder}: cannot be used as verdict cache (${(error as Error).message})`, {
        hint: 'name a folder that can be read and written',
        cause: error,
      })
    }
    if (options.readOnly !== true) cache.#upkeep()
    return cache
  }

  /** The value of a key, or undefined. A key is any text; `cacheKey` makes one of a verdict. */
  get(key: string): V | undefined {
    const digest = asDigest(key)
    const words = keyWords(digest)
    let json = this.#segments.read(words, digest)
    if (json === null && performance.now() - this.#refreshedMs >= this.#refreshMs) {
      this.refresh()
      json = this.#segments.read(words, digest)
    }
    if (json === null) {
      this.#misses++
      return undefined
    }
    this.#hits++
    this.#segments.markUsed(words)
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
    this.#guard(() => {
      this.#segments.append(keyWords(digest), record)
      this.#puts++
    })
    this.#uncheckedBytes += record.length
    if (this.#uncheckedBytes < CHECK_SHARE * this.#maxBytes) return
    this.refresh()
    this.#upkeep()
  }

  /**
   * Says to other processes that this one finds out the value of a key; false while another one does. As long as no other
   * process writes to the folder it is always true, and nothing is written. `release` when the value is put, or will not be.
   */
  claim(key: string): boolean | Promise<boolean> {
    if (!this.#writable || this.#closed || Date.now() - this.#segments.othersWroteMs > OTHERS_GONE_MS)
      return true
    return this.#claims.take(asDigest(key))
  }

  /** Gives a claim back; does nothing for a key that was not claimed. */
  release(key: string): void {
    this.#claims.release(asDigest(key))
  }

  /** Reads what other processes have added. Happens by itself; a caller that wants it now may ask. */
  refresh(): void {
    this.#guard(() => this.#readNew())
  }

  /** Waits until everything put so far is on the disk itself. */
  flush(): void {
    this.#guard(() => this.#segments.flush())
  }

  /** Flushes and lets go of the files; look-ups miss from then on. */
  close(): void {
    if (this.#closed) return
    this.flush()
    this.#closed = true
    this.#claims.close()
    this.#segments.close()
  }

  stats(): VerdictCacheStats {
    const lookups = this.#hits + this.#misses
    return {
      hits: this.#hits,
      misses: this.#misses,
      hitRate: lookups === 0 ? null : this.#hits / lookups,
      puts: this.#puts,
      ...this.#segments.count(),
      damaged: this.#segments.damaged,
      evictedSegments: this.#evicted,
      writable: this.#writable,
    }
  }

  #readNew(): void {
    if (this.#closed) return
    this.#segments.readNew()
    this.#refreshedMs = performance.now()
  }

  /** Evicts and merges where it is due and nobody else is at it. */
  #upkeep(): void {
    this.#uncheckedBytes = 0
    this.#guard(() => {
      const files = listSegments(this.#folder)
      if (this.#victims(files).length === 0 && this.#parts(files).length === 0) return
      withUpkeepLock(this.#folder, () => {
        // Looked at again under the lock: another process may just have done it.
        this.#readNew()
        this.#evict(this.#victims(listSegments(this.#folder)))
        this.#merge(this.#parts(listSegments(this.#folder)))
        this.#readNew()
      })
    })
  }

  #victims(files: readonly SegmentFile[]): SegmentFile[] {
    return evictable(files, this.#maxBytes)
  }

  #parts(files: readonly SegmentFile[]): SegmentFile[] {
    return mergeable(files, this.#maxBytes, this.#segments.ownName)
  }

  /** Removes segments; what this process asked for in them is written anew, up to an eighth of the whole. */
  #evict(victims: readonly SegmentFile[]): void {
    if (victims.length === 0) return
    if (victims.some(({ name }) => name === this.#segments.ownName)) this.#segments.leaveOwn()
    let room = SEGMENT_SHARE * this.#maxBytes
    for (const [words, line] of this.#segments.linesOf(victims)) {
      if (room < line.length || !this.#segments.wasUsed(words)) continue
      room -= line.length
      this.#segments.append(words, line)
    }
    removeSegments(this.#folder, victims)
    this.#evicted += victims.length
  }

  #merge(parts: readonly SegmentFile[]): void {
    if (parts.length === 0) return
    const lines = [...this.#segments.linesOf(parts)].map(([, line]) => line)
    writeMerged(this.#folder, parts, lines)
    removeSegments(this.#folder, parts)
  }

  /** Does work on the folder; after the first failure nothing is written any more, and the user is told once. */
  #guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (!this.#writable) return
      this.#writable = false
      const why = (error as Error).message
      this.#onWarning(`${this.#folder}: verdicts are not kept any more (${why}); the run goes on without`)
    }
  }
}
