/** @file Rows of runs as a table: one column for each metric by its dotted name, for spreadsheets and data frames. */

import { runNames } from './compare/groups.ts'
import { leafEntries } from './leaves.ts'
import { readEvals, readMetrics, readRunInfo } from './readers.ts'

/** Which rows: those of the steps, or those of the evaluations without their single problems. */
export type ExportedRows = 'metrics' | 'evals'

/** A cell; null and what a row does not have are empty. */
type Cell = string | number | boolean | null

export type FlatRow = Record<string, Cell>

/** Texts and problems of an evaluation, which are no metrics. */
const NO_METRICS = new Set(['items', 'scoreNames'])

const rowsOf = (dir: string, which: ExportedRows): readonly object[] =>
  which === 'metrics' ? readMetrics(dir) : readEvals(dir)

/**
 * The rows of some runs, each with its run's name, recipe and seed before its metrics.
 * @throws RunError where there is no run; DataError for a broken file
 */
export const flatRows = (dirs: readonly string[], which: ExportedRows): FlatRow[] => {
  const names = runNames(dirs)
  return dirs.flatMap(dir => {
    const { recipe = null, seed = null } = readRunInfo(dir)
    return rowsOf(dir, which).map(row => {
      const metrics = Object.fromEntries(Object.entries(row).filter(([name]) => !NO_METRICS.has(name)))
      // A list by number: `scores.accuracy.interval.0`.
      const cells = leafEntries(metrics, '.').filter(([, cell]) => cell !== undefined)
      return { run: names.get(dir)!, recipe, seed, ...(Object.fromEntries(cells) as FlatRow) }
    })
  })
}

/** A spreadsheet takes text that begins so for a formula. */
const FORMULA = /^[=+\-@\t\r]/

const quoted = (cell: Cell | undefined): string => {
  if (cell === null || cell === undefined) return ''
  if (typeof cell !== 'string') return String(cell)
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Comma-separated values (RFC 4180) with a header; columns in the order in which rows first have them.
 * @example
 * csvOf([{ step: 1, reward: 0.5 }]) // 'step,reward\r\n1,0.5\r\n'
 */
export const csvOf = (rows: readonly FlatRow[]): string => {
  const columns = [...new Set(rows.flatMap(row => Object.keys(row)))]
  const line = (cells: readonly string[]) => `${cells.join(',')}\r\n`
  return line(columns.map(quoted)) + rows.map(row => line(columns.map(name => quoted(row[name])))).join('')
}
