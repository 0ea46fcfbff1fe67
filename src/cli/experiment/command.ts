/** @file `gradus experiment`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, Option } from 'commander'
import type { Io } from '../io.ts'
import { above0, count } from '../option-values.ts'
import type { ExperimentCommandOptions } from './experiment.ts'

const HELP = `
A registration names claims, arms, metrics, smallest effects, seeds, cold starts and negative controls before anything runs
(docs/experiments.md). Its hash goes into the results; runs of another hash are never mixed in.

Every arm is trained from every cold start with every seed, each in a process of its own with one thread. A command that was
stopped or killed goes on where it was: runs that are done are not run again, runs that were begun are resumed.

Results: <results>/<paper>/<claim>.json and <results>/<paper>/report.html. Exit code 1 when a run failed twice.

Examples:
  $ gradus experiment experiments/ruscarl.yaml --dry-run
  $ gradus experiment experiments/ruscarl.yaml --budget 60
  $ gradus experiment experiments/ruscarl.yaml --jobs 2
  $ gradus experiment experiments/ruscarl.yaml --analyse`

/** Adds `gradus experiment` to the program. `done` receives the exit code. */
export const addExperimentCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('experiment')
    .summary('test registered claims: arms x cold starts x seeds')
    .description(
      'Runs a registered experiment: all arms, paired by cold start and seed; statistics; a report.',
    )
    .argument('<file.yaml>', 'registration')
    .option('--budget <minutes>', 'say what fits into so many minutes, and run that', above0)
    .option('--jobs <n>', 'runs at a time; all cores by default', count)
    .option('--work <dir>', 'folder of the runs', 'experiments-work')
    .option('--results <dir>', 'folder of the results', 'results')
    .option('--dry-run', 'print the plan, run nothing')
    .option('--analyse', 'run nothing; write the results of what is done')
    .option('--json', 'print plan or results as JSON, no progress')
    .addOption(new Option('--probe <job>', 'measure one finished run').hideHelp())
    .addOption(new Option('--registered <sha256>', 'hash that the registration must have').hideHelp())
    .addHelpText('after', HELP)
    .action(async (file: string, options: ExperimentCommandOptions) => {
      const { experimentCommand } = await import('./experiment.ts')
      done(await experimentCommand(file, options, io))
    })
}
