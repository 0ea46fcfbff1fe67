/** @file `gradus report`, `gradus compare`, `gradus runs check`: what run folders tell, as a page, side by side, and of their own state. */

import type { Command } from 'commander'
import { EXIT, type Io, printJson } from '../io.ts'

/** Adds `gradus report` to the program. `done` receives the exit code. */
export const addReportCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('report')
    .summary("write a run's report")
    .description('Writes the HTML report of a run, finished or not, and prints its path.')
    .argument('<run>', 'run folder')
    .option('--json', 'print {report} as JSON')
    .action(async (run: string, { json }: { json?: boolean }) => {
      const { writeReport } = await import('../../runs/index.ts')
      const report = writeReport(run)
      if (json) printJson(io, { report })
      else io.out.write(`${report}\n`)
      done(EXIT.ok)
    })
}

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

/** Adds `gradus runs` to the program. `done` receives the exit code. */
export const addRunsCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('runs')
    .summary('look after run folders')
    .description('Looks after run folders.')
    .command('check')
    .summary('check that a run is whole')
    .description(
      'Checks every checkpoint of a run against its manifest, its row files, configuration and pointer; writes nothing. Exit code 1 when something is damaged.',
    )
    .argument('<run>', 'run folder')
    .option('--json', 'print what was found as JSON')
    .action(async (run: string, options: { json?: boolean }) => {
      const { examineRun } = await import('../../runs/index.ts')
      const { formatExamination } = await import('./examination.ts')
      const found = examineRun(run)
      if (options.json) printJson(io, found)
      else io.out.write(formatExamination(found))
      done(found.whole ? EXIT.ok : EXIT.failed)
    })
}
