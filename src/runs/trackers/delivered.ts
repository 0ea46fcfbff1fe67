/**
 * @file How much of a run one tracker has: a small file in `trackers/` of its folder, written before rows are sent and when they
 * have arrived. The rows themselves are the run's own, and are sent on from there after an outage, a kill or a resume.
 */

import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { writeFileAtomic } from '../../util/atomic.ts'
import { DataError } from '../../util/errors.ts'
import { guardWrite } from '../errors.ts'
import { readRows } from '../row-files.ts'
import { withoutTimes } from './metrics.ts'
import type { TrackedPoint, Tracker } from './tracker.ts'

/** The first rows of a file, with the digest of the last of them. */
const amountSchema = z.strictObject({ rows: z.int().nonnegative(), digest: z.string() })

const deliveredSchema = z.strictObject({
  /** Names the run at the tracker. */
  identity: z.string(),
  metrics: amountSchema,
  evals: amountSchema,
  /** Rows by their keys that may have arrived as well, with the times that they were sent with. */
  doubtful: z.record(z.string(), z.strictObject({ digest: z.string(), atMs: z.number() })),
})

type State = z.output<typeof deliveredSchema>

const nothing = (identity = randomUUID().replaceAll('-', '')): State => ({
  identity,
  metrics: { rows: 0, digest: '' },
  evals: { rows: 0, digest: '' },
  doubtful: {},
})

export class Delivered {
  readonly #path: string | null
  #state = nothing()

  /** @param path null: kept in memory alone @throws DataError for a damaged file; RunError for one that cannot be written */
  constructor(path: string | null) {
    this.#path = path
    const [line] = path === null ? [] : readRows(path)
    if (line === undefined) this.#save()
    else this.#state = this.#checked(line)
  }

  #checked(line: unknown): State {
    const { success, data } = deliveredSchema.safeParse(line)
    if (success) return data
    throw new DataError(`${this.#path}: expected what a tracker has of the run, got something else`, {
      hint: 'remove that file: the run is sent again, as a new one',
    })
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

  /** Whether a row, or one before it, was delivered, or may have been, with other figures than now. */
  contradicts({ file, nth, key, digest }: TrackedPoint): boolean {
    const { rows, digest: last } = this.#state[file]
    const known = nth === rows ? last : this.#state.doubtful[key]?.digest
    return known !== undefined && known !== digest
  }

  /**
   * Of some points those that have not arrived for certain. One that may have arrived keeps the time that it was sent with. Where
   * it is not the very row any more, a tracker that takes figures once is sent it without timings: those of both makings would
   * stand there.
   */
  fresh(points: readonly TrackedPoint[], takesOnce: Tracker['takesOnce']): TrackedPoint[] {
    return points
      .filter(({ file, nth }) => nth > this.#state[file].rows)
      .map(point => {
        const { atMs = point.atMs } = this.#state.doubtful[point.key] ?? {}
        if (atMs === point.atMs) return point
        const figures = takesOnce === 'row' ? point.figures : withoutTimes(point.figures)
        return { ...point, atMs, figures }
      })
  }

  /** To be called before points are sent. @throws RunError for a failed write */
  sending(points: readonly TrackedPoint[]): void {
    for (const { key, digest, atMs } of points) this.#state.doubtful[key] = { digest, atMs }
    this.#save()
  }

  /** What `sending` named has arrived. @throws RunError for a failed write */
  arrived(points: readonly TrackedPoint[]): void {
    for (const { file, nth, key, digest } of points) {
      this.#state[file] = { rows: nth, digest }
      delete this.#state.doubtful[key]
    }
    this.#save()
  }

  /** The tracker has nothing of the run. @param identity another one: of a new run there @throws RunError for a failed write */
  begin(identity?: string): void {
    this.#state = nothing(identity)
    this.#save()
  }

  #save(): void {
    const path = this.#path
    if (path !== null) guardWrite(path, () => writeFileAtomic(path, `${JSON.stringify(this.#state)}\n`))
  }
}
