/** @file `gradus compare RUN RUN`: metrics, evaluations with paired differences, and settings of two runs. */

import type { Command } from 'commander'
import { EXIT, type Io, printJson } from '../io.ts'

/** Adds `gradus compare` to the program. `done` receives the exit code. */
export const addCompareCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('compare')
    .summary('compare two runs')
    .description('Compares two runs: evaluations with paired intervals, metrics, and settings that differ.')
    .argument('<run-a>', 'run folder')
    .argument('<run-b>', 'run folder')
    .option('--json', 'print the comparison as JSON')
    .action(async (a: string, b: string, options: { json?: boolean }) => {
      const { compareRuns } = await import('../../runs/index.ts')
      const { text, json } = compareRuns(a, b)
      if (options.json) printJson(io, json)
      else io.out.write(text)
      done(EXIT.ok)
    })
}
