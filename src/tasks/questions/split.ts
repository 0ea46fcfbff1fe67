/** @file Rows of files for training and for tests: no question on both sides, none there twice. */

import { Rng } from '../../util/rng.ts'

export interface RowSplit<Row> {
  train: Row[]
  test: Row[]
  /** What a person should know of it. */
  notes: string[]
}

export interface RowsToSplit<Row> {
  rows: readonly Row[]
  /** For tests, from a file of their own; null: so many of `rows`. */
  testRows: readonly Row[] | null
  /** Of further tests: not trained on either. */
  neverTrained?: readonly Row[]
  /** How many of so many different rows are kept for tests, where there are no `testRows`. */
  heldOut(rows: number): { count: number; note?: string }
  textOf(row: Row): string
  /** What the split is even in; absent, or undefined: nothing. */
  stratumOf?(row: Row): string | undefined
  /** Names the shuffle. */
  label: string
}

/** Each text once, the first with it. */
export const distinctRows = <Row>(rows: readonly Row[], textOf: (row: Row) => string): Row[] => {
  const seen = new Set<string>()
  return rows.filter(row => {
    const text = textOf(row)
    return !seen.has(text) && seen.add(text)
  })
}

/** So many rows: the first, or every so many of them in the order of their strata, so that each has its share. */
const spread = <Row>(
  rows: readonly Row[],
  count: number,
  stratumOf: RowsToSplit<Row>['stratumOf'] = () => undefined,
): Row[] => {
  const parts = rows.map(row => ({ row, stratum: stratumOf(row) }))
  if (parts.every(({ stratum }) => stratum === undefined)) return rows.slice(0, count)
  const ordered = parts.sort(({ stratum: a = '' }, { stratum: b = '' }) => (a < b ? -1 : Number(a > b)))
  const before = (i: number) => Math.floor((i * count) / rows.length)
  return ordered.filter((_, i) => before(i + 1) > before(i)).map(({ row }) => row)
}

/** By a shuffle that depends on the rows alone, so that every seed and every arm has the same test rows. */
export const splitRows = <Row>({
  rows,
  testRows,
  neverTrained = [],
  heldOut,
  textOf,
  stratumOf,
  label,
}: RowsToSplit<Row>): RowSplit<Row> => {
  const own = distinctRows(rows, textOf)
  const notes: string[] = []
  if (own.length < rows.length) notes.push(`${rows.length - own.length} questions left out: there twice`)
  const shuffled = new Rng(label).shuffle(own)
  const { count, note } = testRows === null ? heldOut(own.length) : { count: 0 }
  if (note !== undefined) notes.push(note)
  const kept = new Set(spread(shuffled, count, stratumOf))
  const test = testRows === null ? shuffled.filter(row => kept.has(row)) : distinctRows(testRows, textOf)
  const tested = new Set([...test, ...neverTrained].map(textOf))
  const train = shuffled.filter(row => !tested.has(textOf(row)))
  const repeated = shuffled.length - kept.size - train.length
  if (repeated > 0) notes.push(`${repeated} training questions left out: also among the test questions`)
  return { train, test, notes }
}
