/** @file The rows of a run as points in the order of its steps, while its files grow. Holds a piece of each file, never all. */

import { join } from 'node:path'
import { shortHash } from '../../util/canonical.ts'
import { DataError } from '../../util/errors.ts'
import { FILE_START, type RowPosition, readLinesFrom } from '../row-files.ts'
import type { EvalRow, MetricsRow } from '../rows.ts'
import { evalMetrics, stepMetrics, withoutTimes } from './metrics.ts'
import type { TrackedPoint } from './tracker.ts'

/** Of a file at a time. */
const PIECE_BYTES = 1 << 20

/** Rows of one file that were read and not yet asked for. */
class Lookahead<Row extends { step: number }> {
  #rows: Row[] = []
  #position: RowPosition = FILE_START
  #ended = false
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** The file may have grown. */
  lookAgain(): void {
    this.#ended = false
  }

  /** The next row, if the file had one when it was last looked at. @throws DataError for a line that is no row */
  get first(): Row | undefined {
    while (this.#rows.length === 0 && !this.#ended) {
      const { lines, position, more } = readLinesFrom(this.#path, this.#position, PIECE_BYTES)
      this.#position = position
      this.#rows = lines.map(({ text, offset }) => this.#parse(text, offset))
      this.#ended = !more
    }
    return this.#rows[0]
  }

  take(): void {
    this.#rows.shift()
  }

  #parse(text: string, offset: number): Row {
    try {
      const row: unknown = JSON.parse(text)
      if (typeof (row as Row | null)?.step === 'number') return row as Row
    } catch {}
    throw new DataError(
      `${this.#path}, the line at byte ${offset}: expected a row with its step, got ${text.slice(0, 40)}`,
      {
        hint: 'gradus runs check says what of the run is whole',
      },
    )
  }
}

/** A step's metrics come before the evaluations after it. */
export class Feed {
  readonly #metrics: Lookahead<MetricsRow>
  readonly #evals: Lookahead<EvalRow>
  #atMs: number
  readonly #digests = { metrics: '', evals: '' }
  /** Rows of each file that were returned. */
  readonly rows = { metrics: 0, evals: 0 }

  constructor(dir: string, createdAtMs: number) {
    this.#metrics = new Lookahead(join(dir, 'metrics.jsonl'))
    this.#evals = new Lookahead(join(dir, 'evals.jsonl'))
    this.#atMs = createdAtMs
  }

  /** At most so many points that were not returned before; none: the run has no more for now. @throws DataError */
  next(most: number): TrackedPoint[] {
    this.#metrics.lookAgain()
    this.#evals.lookAgain()
    const points: TrackedPoint[] = []
    while (points.length < most) {
      const point = this.#one()
      if (point === null) break
      points.push(point)
    }
    return points
  }

  #one(): TrackedPoint | null {
    const [metrics, evals] = [this.#metrics.first, this.#evals.first]
    if (metrics !== undefined && (evals === undefined || metrics.step <= evals.step)) {
      this.#metrics.take()
      const seconds = metrics.time?.total
      this.#atMs += Number.isFinite(seconds) ? seconds! * 1000 : 0
      return this.#point('metrics', metrics.step, stepMetrics(metrics))
    }
    if (evals === undefined) return null
    this.#evals.take()
    return this.#point('evals', evals.step, evalMetrics(evals))
  }

  #point(file: TrackedPoint['file'], step: number, metrics: Record<string, number>): TrackedPoint {
    const nth = ++this.rows[file]
    const digest = shortHash([this.#digests[file], step, withoutTimes(metrics)])
    this.#digests[file] = digest
    return { file, nth, key: `${file}/${nth}`, step, atMs: Math.round(this.#atMs), metrics, digest }
  }
}
