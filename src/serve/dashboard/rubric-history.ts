/** @file What became of rubrics that evolve, without their texts: rows of rubrics.jsonl as they come, counted by step. */

import type { RubricRow } from '../../runs/rows.ts'

/** Rows kept whole, the latest; older ones count in the figures alone. */
const MOST_ROWS = 4_000

export class RubricHistory {
  /** The latest rows. */
  rows: RubricRow[] = []
  /** All rows there are. */
  count = 0

  add(row: RubricRow): void {
    this.count++
    this.rows.push(row)
    if (this.rows.length > 2 * MOST_ROWS) this.rows.splice(0, MOST_ROWS)
  }

  clear(): void {
    this.rows = []
    this.count = 0
  }
}
