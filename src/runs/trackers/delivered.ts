/**
 * @file How much of a run one tracker has: a small file in `trackers/` of its folder, written before rows are sent and when they
 * have arrived. The rows themselves are the run's own, and are sent on from there after an outage, a kill or a resume.
 */

import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { temporaryPath } from '../../util/atomic.ts'
import { DataError } from '../../util/errors.ts'
import { wordsOfCode } from '../../util/file-failure.ts'
import { withoutTimes } from './metrics.ts'
import { type TrackedPoint, type Tracker, TrackerError } from './tracker.ts'

/** The first rows of a file, with the digest of the last of them. */
const amountSchema = z.strictObject({ rows: z.int().nonnegative(), digest: z.string() })

const deliveredSchema = z.strictObject({
  /** Names the run at the tracker. */
  identity: z.string(),
  /** When the run here was begun: one that is begun again in its folder is another one. */
  createdAtMs: z.number(),
  metrics: amountSchema,
  evals: amountSchema,
  /** Rows by their keys that may have arrived as well, with the times that they were sent with. */
  doubtful: z.record(z.string(), z.strictObject({ digest: z.string(), atMs: z.number() })),
})

type State = z.output<typeof deliveredSchema>

const nothing = (createdAtMs: number, identity = randomUUID().replaceAll('-', '')): State => ({
  identity,
  createdAtMs,
  metrics: { rows: 0, digest: '' },
  evals: { rows: 0, digest: '' },
  doubtful: {},
})

export class Delivered {
  readonly #path: string | null
  readonly #createdAtMs: number
  #state: State
  #kept = false

  /** @param path null: kept in memory alone @param createdAtMs of the run @throws DataError for a damaged file */
  constructor(path: string | null, createdAtMs: number) {
    this.#path = path
    this.#createdAtMs = createdAtMs
    const there = path !== null && existsSync(path)
    this.#state = there ? stateIn(path) : nothing(createdAtMs)
    this.#kept = there
  }

  get identity(): string {
    return this.#state.identity
  }

  /** Rows that have arrived. */
  get rows(): number {
    return this.#state.metrics.rows + this.#state.evals.rows
  }

  /** Whether the tracker has, or may have, rows after the last ones of the run. */
  exceeds({ metrics, evals }: Readonly<Record<TrackedPoint['file'], number>>): boolean {
    const { metrics: steps, evals: sets, doubtful } = this.#state
    return steps.rows > metrics || sets.rows > evals || Object.keys(doubtful).length > 0
  }

  /** Whether a row, or one before it, was delivered, or may have been, with other metrics than now. */
  contradicts({ file, nth, key, digest }: TrackedPoint): boolean {
    if (this.#state.createdAtMs !== this.#createdAtMs) return true
    const { rows, digest: last } = this.#state[file]
    const known = nth === rows ? last : this.#state.doubtful[key]?.digest
    return known !== undefined && known !== digest
  }

  /**
   * Of some points those that have not arrived for certain. One that may have arrived keeps the time that it was sent with. Where
   * it is not the very row any more, a tracker that takes metrics once is sent it without timings: those of both makings would
   * stand there.
   */
  fresh(points: readonly TrackedPoint[], takesOnce: Tracker['takesOnce']): TrackedPoint[] {
    return points
      .filter(({ file, nth }) => nth > this.#state[file].rows)
      .map(point => {
        const { atMs = point.atMs } = this.#state.doubtful[point.key] ?? {}
        if (atMs === point.atMs) return point
        const metrics = takesOnce === 'row' ? point.metrics : withoutTimes(point.metrics)
        return { ...point, atMs, metrics }
      })
  }

  /** To be called before the identity is used. @throws as `sending` */
  async keep(): Promise<void> {
    if (!this.#kept) await this.#save()
  }

  /** To be called before points are sent. @throws TrackerError for a failed write, which may pass */
  async sending(points: readonly TrackedPoint[]): Promise<void> {
    for (const { key, digest, atMs } of points) this.#state.doubtful[key] = { digest, atMs }
    await this.#save()
  }

  /** What `sending` named has arrived. @throws as `sending` */
  async arrived(points: readonly TrackedPoint[]): Promise<void> {
    for (const { file, nth, key, digest } of points) {
      this.#state[file] = { rows: nth, digest }
      delete this.#state.doubtful[key]
    }
    await this.#save()
  }

  /** The tracker has nothing of the run. @param identity of the run there; none: of a new one @throws as `sending` */
  async begin(identity?: string): Promise<void> {
    this.#state = nothing(this.#createdAtMs, identity)
    await this.#save()
  }

  async #save(): Promise<void> {
    if (this.#path !== null) await write(this.#path, `${JSON.stringify(this.#state)}\n`)
    this.#kept = true
  }
}

/** @throws DataError for a damaged file */
const stateIn = (path: string): State => {
  try {
    return deliveredSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    throw new DataError(`${path}: expected what a tracker has of the run, got something else`, {
      hint: 'remove that file: the run is sent again, as a new one',
      cause: error,
    })
  }
}

/** Whole or not at all, and beside the training: its steps wait for no disk. */
const write = async (path: string, text: string): Promise<void> => {
  const beside = temporaryPath(path)
  try {
    await mkdir(dirname(path), { recursive: true })
    const file = await open(beside, 'w')
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(beside, path)
  } catch (error) {
    const { what, hint } = wordsOfCode(String((error as NodeJS.ErrnoException).code))
    throw new TrackerError(`${path}: could not be written: ${what}`, { hint, cause: error })
  }
}
