/**
 * @file What was delivered of a run to one tracker, row by row, in `trackers/` of its folder. Noted before a row is sent and
 * again when it has arrived, so that neither a kill nor an export later sends anything twice.
 */

import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { guardWrite } from '../errors.ts'
import { appendRows, readRows, repairTail } from '../row-files.ts'
import { withoutTimes } from './metrics.ts'
import type { TrackedPoint, Tracker } from './tracker.ts'

/** A row that is about to be sent: its key, the digest of its figures, its time in ms. */
const sendingSchema = z.tuple([
  z.string(),
  z.string(),
  // JSON writes null for what is no number: the time of a row whose own times are damaged.
  z
    .number()
    .nullable()
    .transform(atMs => atMs ?? Number.NaN),
])

/** A line of the file. */
const lineSchema = z.object({
  /** A run at the tracker begins. */
  identity: z.string().optional(),
  sending: z.array(sendingSchema).optional(),
  /** So many of the rows before have arrived. */
  arrived: z.int().nonnegative().optional(),
})
type Line = z.output<typeof lineSchema>

/** @throws DataError for a line of another shape */
const checked = (line: unknown, place: string): Line => {
  const read = lineSchema.safeParse(line)
  if (read.success) return read.data
  throw new DataError(
    `${place}: expected identity, sending or arrived as a tracker's ledger has them, got ${JSON.stringify(line).slice(0, 60)}`,
    { hint: 'remove that line: rows that it named are sent again' },
  )
}

interface Known {
  digest: string
  atMs: number
  arrived: boolean
}

export class TrackerLedger {
  readonly path: string
  #identity = ''
  readonly #known = new Map<string, Known>()
  #doubtful: Known[] = []

  /** @throws DataError for a damaged file; RunError where the folder cannot be written */
  constructor(path: string) {
    this.path = path
    repairTail(path)
    for (const [i, line] of readRows(path).entries()) this.#read(checked(line, `${path}:${i + 1}`))
    if (this.#identity === '') this.begin()
  }

  /** Names the run at the tracker. */
  get identity(): string {
    return this.#identity
  }

  /** Rows that have arrived. */
  get arrived(): number {
    let count = 0
    for (const row of this.#known.values()) if (row.arrived) count++
    return count
  }

  /** The last step of which metrics were delivered, or may have been. */
  get lastStep(): number {
    let last = Number.NEGATIVE_INFINITY
    for (const key of this.#known.keys()) {
      const [file, step] = key.split('/')
      if (file === 'metrics') last = Math.max(last, Number(step))
    }
    return last
  }

  /** Whether a row was delivered, or may have been, with other figures than it has now. */
  contradicts({ key, digest }: TrackedPoint): boolean {
    const known = this.#known.get(key)
    return known !== undefined && known.digest !== digest
  }

  /**
   * Of some points those that have not arrived for certain. One that may have arrived keeps the time that it was sent with. Where
   * it is not the very row any more, a tracker that takes figures once is sent it without timings: those of both makings would
   * stand there.
   */
  fresh(points: readonly TrackedPoint[], takesOnce: Tracker['takesOnce']): TrackedPoint[] {
    return points.flatMap(point => {
      const known = this.#known.get(point.key)
      if (known === undefined || known.digest !== point.digest) return [point]
      if (known.arrived) return []
      if (known.atMs === point.atMs) return [point]
      const figures = takesOnce === 'row' ? point.figures : withoutTimes(point.figures)
      return [{ ...point, atMs: known.atMs, figures }]
    })
  }

  /** To be called before points are sent. @throws RunError for a failed write */
  sending(points: readonly TrackedPoint[]): void {
    this.#write({ sending: points.map(({ key, digest, atMs }) => [key, digest, atMs]) })
  }

  /** What `sending` named has arrived. @throws RunError for a failed write */
  arrivedAll(): void {
    this.#write({ arrived: this.#doubtful.length })
  }

  /** Another run at the tracker: nothing has been delivered to it. @throws RunError for a failed write */
  begin(identity = randomUUID().replaceAll('-', '')): void {
    guardWrite(this.path, () => mkdirSync(dirname(this.path), { recursive: true }))
    this.#write({ identity })
  }

  /** The tracker holds nothing of the run (any more). @throws RunError for a failed write */
  forget(): void {
    if (this.#known.size > 0) this.begin(this.#identity)
  }

  #write(line: Line): void {
    appendRows(this.path, [line])
    this.#read(line)
  }

  #read({ identity, sending, arrived }: Line): void {
    if (identity !== undefined) {
      this.#identity = identity
      this.#known.clear()
      this.#doubtful = []
    }
    if (sending !== undefined) {
      this.#doubtful = sending.map(([key, digest, atMs]) => {
        const row: Known = { digest, atMs, arrived: false }
        this.#known.set(key, row)
        return row
      })
    }
    if (arrived !== undefined) for (const row of this.#doubtful.splice(0, arrived)) row.arrived = true
  }
}
