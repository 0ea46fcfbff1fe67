/** @file `gradus experiment`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, Option } from 'commander'
import type { Io } from '../io.ts'
import { above0, count } from '../option-values.ts'
import type { ExperimentCommandOptions } from './experiment.ts'

const HELP = `
A registration names claims, arms, metrics, smallest effects, seeds, cold starts and negative controls before anything runs
(docs/experiments.md). Its hash goes into the results; runs of another hash are never mixed in. The version of the rule that
decides goes into the record too: when the rule changes later, both statuses are shown.

Every arm is trained from every cold start with every seed, each in a process of its own with one thread. A command that was
stopped or killed goes on where it was: runs that are done are not run again, runs that were begun are resumed.

More seeds: a block under \`blocks\` in the same file, with a hash of its own; what was registered before keeps its hash and runs.
\`looks\`, registered with the first seeds, says how often you mean to look: the looks share the 5%.

Elsewhere: where the folders of runs are gone, --adopt takes the finished runs of the same registration from the results
(<results>/<paper>/runs.jsonl.br) and trains the others. Pass --adopt on every later call; without it only local runs count.

Results: <results>/<paper>/<claim>.json, summary.md, report.html and runs.jsonl.br, slim metrics of all runs. --recompute works
every status out again from these, without run folders. Exit code 1 when a run failed twice.

Examples:
  $ gradus experiment experiments/ruscarl.yaml --dry-run
  $ gradus experiment experiments/ruscarl.yaml --budget 60
  $ gradus experiment experiments/ruscarl.yaml --jobs 2
  $ gradus experiment experiments/ruscarl.yaml --analyse
  $ gradus experiment experiments/ruscarl.yaml --adopt
  $ gradus experiment results/ruscarl --recompute`

/** Adds `gradus experiment` to the program. `done` receives the exit code. */
export const addExperimentCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('experiment')
    .summary('test registered claims: arms x cold starts x seeds')
    .description(
      'Runs a registered experiment: all arms, paired by cold start and seed; statistics; a report.',
    )
    .argument('<file.yaml>', 'registration; with --recompute a folder of results')
    .option('--budget <minutes>', 'say what fits into so many minutes, and run that', above0)
    .option('--jobs <n>', 'runs at a time; all cores by default', count)
    .option('--work <dir>', 'folder of the runs', 'experiments-work')
    .option('--results <dir>', 'folder of the results', 'results')
    .option('--adopt', 'count runs that lie in the results as done: go on where their folders are gone')
    .option('--dry-run', 'print the plan, run nothing')
    .option('--analyse', 'run nothing; write the results of what is done')
    .option('--recompute', 'work the statuses of a folder of results out again from what lies there')
    .option('--write', 'with --recompute: write results and report anew')
    .option('--json', 'print plan or results as JSON, no progress')
    .addOption(new Option('--probe <job>', 'measure one finished run').hideHelp())
    .addOption(new Option('--registered <sha256>', 'hash that the registration must have').hideHelp())
    .addHelpText('after', HELP)
    .action(async (file: string, options: ExperimentCommandOptions) => {
      const { experimentCommand } = await import('./experiment.ts')
      done(await experimentCommand(file, options, io))
    })
}
