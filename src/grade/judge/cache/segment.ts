/** @file Segment files of the cache: each is appended to by one process only and read by all. */

import { randomBytes } from 'node:crypto'
import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Words } from './digest-index.ts'
import { decodeRecord, scanRecords } from './record.ts'

const SUFFIX = '.verdicts'
const CHUNK_BYTES = 4 * 1024 * 1024
/** Longest record: a value above it is not worth keeping, and a reader need not look further for the end of a damaged line. */
export const LONGEST_RECORD = 1024 * 1024

export const isSegmentName = (name: string): boolean => name.endsWith(SUFFIX)

/** Names sort by the time that they stand for. @param timeMs of a merged segment: that of its oldest part */
export const newSegmentName = (timeMs = Date.now()): string =>
  `${timeMs.toString(36).padStart(9, '0')}-${process.pid}-${randomBytes(4).toString('hex')}${SUFFIX}`

/** Milliseconds since 1970 that a segment's name stands for. */
export const segmentTimeMs = (name: string): number => Number.parseInt(name.slice(0, 9), 36)

export type OnRecord = (words: Words, offset: number, length: number) => void

export class Segment {
  readonly name: string
  /** Bytes read or written so far; the file of another process may have grown since. */
  bytes = 0
  readonly #fd: number
  #open = true
  /** A write failed in the middle: what comes next must begin on a new line. */
  #torn = false

  private constructor(name: string, fd: number) {
    this.name = name
    this.#fd = fd
  }

  static create(folder: string): Segment {
    const name = newSegmentName()
    return new Segment(name, openSync(join(folder, name), 'ax+'))
  }

  static open(folder: string, name: string): Segment {
    return new Segment(name, openSync(join(folder, name), 'r'))
  }

  /** Reads what was added since the last time. Returns the number of damaged lines. */
  scan(onRecord: OnRecord): number {
    const size = fstatSync(this.#fd).size
    let damaged = 0
    while (this.bytes < size) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - this.bytes))
      const bytes = chunk.subarray(0, readSync(this.#fd, chunk, 0, chunk.length, this.bytes))
      const base = this.bytes
      const found = scanRecords(bytes, (words, offset, length) => onRecord(words, base + offset, length))
      damaged += found.damaged
      // No end of a line within more than the longest record: not ours, passed over.
      if (found.consumed === 0 && bytes.length <= LONGEST_RECORD) break
      this.bytes += found.consumed || bytes.length
    }
    return damaged
  }

  /** Every whole record of the file as it was last read, from its start. */
  places(): [Words, number, number][] {
    const found: [Words, number, number][] = []
    const seen = this.bytes
    this.bytes = 0
    this.scan((words, offset, length) => found.push([words, offset, length]))
    this.bytes = Math.max(seen, this.bytes)
    return found
  }

  /** Bytes of a record, with its newline. */
  line(offset: number, length: number): Buffer {
    const line = Buffer.allocUnsafe(length)
    return line.subarray(0, readSync(this.#fd, line, 0, length, offset))
  }

  /** JSON text of the record of `key` at a place; null where the file is damaged there. */
  read(offset: number, length: number, key: string): string | null {
    const line = this.line(offset, length)
    return line.length === length ? decodeRecord(line, key) : null
  }

  /**
   * Appends a record; it is in the hands of the operating system when this returns, so that only the machine's end loses it.
   * @returns its offset
   */
  append(record: Buffer): number {
    const bytes = this.#torn ? Buffer.concat([Buffer.from('\n'), record]) : record
    this.#torn = true
    let written = 0
    try {
      while (written < bytes.length) written += writeSync(this.#fd, bytes, written)
    } finally {
      this.bytes += written
    }
    this.#torn = false
    return this.bytes - record.length
  }

  flush(): void {
    fdatasyncSync(this.#fd)
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    closeSync(this.#fd)
  }
}
