/**
 * @file Where each kept rollout of a run stands in its file, and what lists and filters ask of it: 64 bytes a rollout, made when
 * it is first looked at and kept in a cache of this user's, so that 200,000 rollouts open at once the next time.
 */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { FILE_START, type PlacedLine, type RowPosition } from '../../runs/row-files.ts'
import type { RolloutRow } from '../../runs/rows.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { hashLabel } from '../../util/rng.ts'
import { GrowingFile, rowOf } from './growing-file.ts'

/** `GRADUS_CACHE`, else the system's place for caches. */
const pageCacheFolder = (): string => {
  const { GRADUS_CACHE: named, XDG_CACHE_HOME: xdg } = process.env
  if (named) return join(named, 'dashboard')
  const home = homedir()
  const base = xdg || (home === '' ? tmpdir() : join(home, '.cache'))
  return join(base, 'gradus', 'dashboard')
}

const RECORD_BYTES = 64
/** Criteria of a rollout that the index holds; those that come first in the run. */
const INDEXED_CRITERIA = 24
const NO_CREDIT = 255
/** New rollouts before the index is written again. */
const WRITE_EVERY = 2_000
/** Of the cache: a line of JSON, then the records. */
const FORMAT = 2

/** What the index holds of a rollout. */
export interface IndexedRollout {
  nth: number
  offset: number
  bytes: number
  step: number
  reward: number | null
  role: number
  sample: number | null
  /** The problem in a number: equal for rollouts of one, different as good as always. */
  problem: number
  flags: number
  monitor: number
  correct: boolean | null
}

/** Names that few rollouts are called of many, by number: as many as records have room for. */
const namesSchema = z.strictObject({
  roles: z.array(z.string()),
  monitors: z.array(z.string()),
  flags: z.array(z.string()),
  criteria: z.array(z.string()),
})

type Names = z.output<typeof namesSchema>

/** Flags are bits of a number. */
const MOST_NAMES: Record<keyof Names, number> = {
  ...{ roles: 1_000, monitors: 1_000, flags: 32, criteria: INDEXED_CRITERIA },
}

const headerSchema = z.strictObject({
  format: z.literal(FORMAT),
  position: z.strictObject({ offset: z.int().nonnegative(), mark: z.string() }),
  count: z.int().nonnegative(),
  names: namesSchema,
})

/** A verdict's credit, where it has one: as graders gave it, else met or not; null where nothing is known. */
const creditsOf = (row: RolloutRow): [string, number][] => {
  const found = new Map<string, number>()
  for (const { criterionId, met, credit } of row.verdicts ?? [])
    if (met !== null) found.set(criterionId, credit ?? Number(met))
  for (const [name, value] of Object.entries(row.parts ?? {}))
    if (typeof value === 'number' && !found.has(name)) found.set(name, value)
  return [...found]
}

const clamped = (value: number, most: number): number => Math.max(0, Math.min(most, Math.round(value)))

const noNames = (): Names => ({ roles: [], monitors: [], flags: [], criteria: [] })

export class RolloutIndex {
  names = noNames()
  problem: string | null = null
  count = 0
  #records = Buffer.alloc(0)
  #written = 0
  readonly #cache: string
  readonly #file: GrowingFile

  constructor(dir: string) {
    const name = createHash('sha256').update(dir).digest('hex').slice(0, 24)
    this.#cache = join(pageCacheFolder(), `${name}.rollouts`)
    const events = { onLine: (line: PlacedLine) => this.#add(line), onRestart: () => this.#clear() }
    this.#file = new GrowingFile(dir, 'rollouts.jsonl', events, this.#load())
  }

  /** Bytes of the file that it knows. */
  get bytes(): number {
    return this.#file.position.offset
  }

  /** Takes in what the file has gained. @returns whether there was anything */
  async advance(): Promise<boolean> {
    const changed = await this.#file.advance()
    if (this.count - this.#written >= WRITE_EVERY || (this.count > 0 && this.#written === 0)) this.#write()
    return changed
  }

  #clear(): void {
    this.names = noNames()
    this.count = 0
    this.#written = 0
    this.problem = null
  }

  /** A row that is none, or whose parts are none, is left out; the first one is told. */
  #add(line: PlacedLine): void {
    try {
      this.#put(line, rowOf<RolloutRow>(line, 'rollouts.jsonl'))
    } catch (error) {
      this.problem ??= (error as Error).message
    }
  }

  /** The number of a name, which is given one where there is room; -1 where there is none. */
  #place(of: keyof Names, name: string): number {
    const names = this.names[of]
    const known = names.indexOf(name)
    return known >= 0 || names.length >= MOST_NAMES[of] ? known : names.push(name) - 1
  }

  #put(line: PlacedLine, row: RolloutRow): void {
    const at = this.#room()
    const records = this.#records
    records.fill(0, at, at + RECORD_BYTES)
    records.writeDoubleLE(line.offset, at)
    records.writeUInt32LE(line.bytes, at + 8)
    records.writeUInt32LE(clamped(row.step ?? 0, 0xffffffff), at + 12)
    records.writeFloatLE(row.reward ?? Number.NaN, at + 16)
    records.writeUInt32LE(hashLabel(String(row.problemId ?? '')), at + 20)
    records.writeUInt32LE(this.#flagBits(row), at + 24)
    records.writeUInt16LE(row.sample === undefined ? 0xffff : clamped(row.sample, 0xfffe), at + 28)
    records.writeUInt16LE(clamped(this.#place('roles', row.role ?? 'policy'), 0xffff), at + 30)
    records.writeUInt16LE(row.monitor === undefined ? 0 : this.#place('monitors', row.monitor) + 1, at + 32)
    records.writeUInt8(row.correct === undefined ? 2 : Number(row.correct), at + 34)
    records.fill(NO_CREDIT, at + 40, at + 40 + INDEXED_CRITERIA)
    for (const [name, credit] of creditsOf(row)) {
      const place = this.#place('criteria', name)
      if (place >= 0) records[at + 40 + place] = clamped(credit * 254, 254)
    }
    this.count++
  }

  #flagBits(row: RolloutRow): number {
    let bits = 0
    for (const [name, value] of Object.entries(row.flags ?? {})) {
      const place = value > 0 ? this.#place('flags', name) : -1
      if (place >= 0) bits |= 1 << place
    }
    return bits >>> 0
  }

  #room(): number {
    const at = this.count * RECORD_BYTES
    if (at + RECORD_BYTES > this.#records.length) {
      const larger = Buffer.alloc(Math.max(256 * RECORD_BYTES, this.#records.length * 2))
      this.#records.copy(larger, 0, 0, at)
      this.#records = larger
    }
    return at
  }

  at(nth: number): IndexedRollout {
    const at = nth * RECORD_BYTES
    const records = this.#records
    const reward = records.readFloatLE(at + 16)
    const sample = records.readUInt16LE(at + 28)
    const correct = records.readUInt8(at + 34)
    return {
      nth,
      offset: records.readDoubleLE(at),
      bytes: records.readUInt32LE(at + 8),
      step: records.readUInt32LE(at + 12),
      reward: Number.isNaN(reward) ? null : reward,
      problem: records.readUInt32LE(at + 20),
      flags: records.readUInt32LE(at + 24),
      sample: sample === 0xffff ? null : sample,
      role: records.readUInt16LE(at + 30),
      monitor: records.readUInt16LE(at + 32) - 1,
      correct: correct === 2 ? null : correct === 1,
    }
  }

  /** What a rollout earned on a criterion, in [0, 1]; null where it has no verdict. */
  credit(nth: number, criterion: number): number | null {
    const value = this.#records[nth * RECORD_BYTES + 40 + criterion]
    return value === NO_CREDIT ? null : value / 254
  }

  /** Rollouts that were kept to show a monitor's warning at a step. */
  shownBy(monitor: string, step: number): number {
    const [records, place] = [this.#records, this.names.monitors.indexOf(monitor)]
    let count = 0
    for (let at = 0; place >= 0 && at < this.count * RECORD_BYTES; at += RECORD_BYTES)
      if (records.readUInt16LE(at + 32) === place + 1 && records.readUInt32LE(at + 12) === step) count++
    return count
  }

  #load(): RowPosition {
    try {
      const all = readFileSync(this.#cache)
      const end = all.indexOf('\n')
      const { position, count, names } = headerSchema.parse(JSON.parse(all.toString('utf8', 0, end)))
      const records = all.subarray(end + 1)
      if (records.length !== count * RECORD_BYTES) return FILE_START
      this.#records = records
      this.#written = count
      Object.assign(this, { count, names })
      return position
    } catch {
      // A cache that is not there, or cannot be read, is made again.
      return FILE_START
    }
  }

  /** Kept for the next time where that is possible; the run itself is never written to. */
  #write(): void {
    this.#written = this.count
    const { count, names } = this
    const header = { format: FORMAT, position: this.#file.position, count, names }
    const records = this.#records.subarray(0, count * RECORD_BYTES)
    try {
      writeFileAtomic(this.#cache, Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), records]))
    } catch {}
  }
}
