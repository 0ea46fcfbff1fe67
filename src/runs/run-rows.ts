/** @file The files of a run that grow by rows: appended to, measured for a checkpoint, cut back at a resume. */

import { join } from 'node:path'
import { type RowExtent, RowTally } from './row-extent.ts'
import { appendRows, flushRows } from './row-files.ts'

export const ROW_FILES = [
  'metrics.jsonl',
  'rollouts.jsonl',
  'evals.jsonl',
  'events.jsonl',
  'rubrics.jsonl',
] as const
export type RowFile = (typeof ROW_FILES)[number]

/** Counts what it appends, so that a checkpoint need not read the files again. */
export class RunRows {
  readonly #dir: string
  readonly #tallies = new Map<RowFile, RowTally>()

  constructor(dir: string) {
    this.#dir = dir
  }

  /** @throws RunError for a failed write */
  append(file: RowFile, rows: readonly unknown[]): void {
    const bytes = appendRows(join(this.#dir, file), rows)
    this.#tallies.get(file)?.append(bytes, rows)
  }

  /** What the files hold now, flushed to the disk. */
  extents(): Record<string, RowExtent> {
    return Object.fromEntries(ROW_FILES.map(file => [file, this.#extentOf(file)]))
  }

  #extentOf(file: RowFile): RowExtent {
    const path = join(this.#dir, file)
    flushRows(path)
    const known = this.#tallies.get(file)
    const tally = known?.holds ? known : RowTally.of(path)
    this.#tallies.set(file, tally)
    return tally.extent
  }

  cutBack(cut: (path: string, file: RowFile) => void): void {
    this.#tallies.clear()
    for (const file of ROW_FILES) cut(join(this.#dir, file), file)
  }
}
