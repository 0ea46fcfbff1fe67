/** @file `gradus report RUN`: writes the run's report anew and says where it is. */

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
