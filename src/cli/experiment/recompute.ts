/** @file `gradus experiment RESULTS --recompute`: statuses worked out again from what lies beside the results. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { provenanceNow, type Recomputed, recompute, writeRecomputed } from '../../experiments/index.ts'
import { UsageError } from '../../util/errors.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { resultJson, resultLines } from './results.ts'

const SOURCES = {
  runs: 'from the runs that are kept in runs.jsonl.br',
  pairs: 'from the pairs in the files of the claims; runs are not kept here',
} as const

const differenceLines = ({ differences }: Recomputed, isWritten: boolean): string[] =>
  differences.length === 0
    ? ['every status is as in its file']
    : [
        `${differences.length} otherwise than in the files${isWritten ? ', which are written anew' : '; --write writes them anew'}:`,
        ...differences.map(text => `  ${text}`),
      ]

/** @throws ConfigError, DataError for a folder that does not hold what it takes */
export const recomputeCommand = (
  folder: string,
  { write = false, json = false }: { write?: boolean; json?: boolean },
  io: Io,
): number => {
  if (!existsSync(join(folder, 'controls.json')))
    throw new UsageError(
      `${folder}: expected a folder of results (RESULTS/PAPER, with controls.json) with --recompute, got something else`,
    )
  const command = `gradus experiment ${folder} --recompute${write ? ' --write' : ''}`
  const found = recompute(folder, provenanceNow(command))
  const { result, from, differences } = found
  const report = write ? writeRecomputed(folder, found) : null
  if (json) printJson(io, { from, differences, ...resultJson(result, folder, report) })
  else {
    const lines = [SOURCES[from], ...resultLines(result, report), ...differenceLines(found, write)]
    io.out.write(`${lines.join('\n')}\n`)
  }
  return EXIT.ok
}
