/** @file `gradus compare`: two runs pair by pair, or any number of them in groups over seeds. */

import { compareMany } from '../../runs/compare/compare.ts'
import { findRuns } from '../../runs/find.ts'
import { compareRuns } from '../../runs/report/compare.ts'
import { UsageError } from '../../util/errors.ts'
import { writeOutput } from '../../util/output-file.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { sweepLabels } from '../sweep/record.ts'

export interface CompareOptions {
  json?: boolean
  html?: string
}

/**
 * @throws UsageError for fewer than two runs; RunError where there is none; DataError for a broken file
 */
export const compareCommand = (
  folders: readonly string[],
  { json, html }: CompareOptions,
  io: Io,
): number => {
  const dirs = findRuns(folders)
  if (dirs.length < 2)
    throw new UsageError(`compare: expected two runs or more, got ${dirs.length === 1 ? dirs[0] : 'none'}`, {
      hint: 'name run folders, or a folder that holds them',
    })
  const labels = sweepLabels(dirs)
  const many = compareMany(dirs, { labels })
  if (html !== undefined) {
    writeOutput(html, many.page())
    io.err.write(`written to ${html}\n`)
  }
  if (dirs.length === 2 && labels === undefined) {
    const pair = compareRuns(dirs[0], dirs[1])
    if (json) printJson(io, pair.json)
    else io.out.write(pair.text)
  } else if (json) printJson(io, many.json)
  else io.out.write(many.text)
  return EXIT.ok
}
