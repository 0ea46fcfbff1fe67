/** @file `gradus export`: rows of runs as comma-separated values. */

import { csvOf, type ExportedRows, flatRows } from '../../runs/export.ts'
import { findRuns } from '../../runs/find.ts'
import { plural } from '../../util/format.ts'
import { writeOutput } from '../../util/output-file.ts'
import { EXIT, type Io, printJson } from '../io.ts'

export interface ExportOptions {
  rows: ExportedRows
  out?: string
  json?: boolean
}

/** @throws RunError where there is no run; DataError for a broken file */
export const exportCommand = (
  folders: readonly string[],
  { rows, out, json }: ExportOptions,
  io: Io,
): number => {
  const dirs = findRuns(folders)
  const flat = flatRows(dirs, rows)
  if (json) for (const row of flat) printJson(io, row)
  else if (out === undefined) io.out.write(csvOf(flat))
  else {
    writeOutput(out, csvOf(flat))
    io.err.write(`${plural(flat.length, 'row')} of ${plural(dirs.length, 'run')} written to ${out}\n`)
  }
  return EXIT.ok
}
