/** @file `gradus sweep`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { count } from '../option-values.ts'
import type { SweepOptions } from './sweep.ts'

const HELP = `
A setting with commas has several values, and every combination of them is a run of its own, in a process of its own, in
the sweep's folder (runs/<name>-sweep unless --out says otherwise). A value that has commas itself goes into brackets or quotes.
Runs go side by side as the cores allow, with the threads that this leaves to each of them, unless policy.threads says otherwise.

Ctrl+C ends every run after its step, with a checkpoint (exit 130). The same command again goes on where it was, also after
a kill: runs that are done stay, runs that were begun are resumed. More values, such as further seeds, add runs to those that are there.

At the end: a table on stdout and compare.html in the folder, with the runs that differ in nothing but their seed as one group.
\`gradus compare FOLDER\` writes them at any time. Exit code 1 when a run failed twice.

Examples:
  $ gradus sweep rit --set "seed=1,2,3" --set steps=20
  $ gradus sweep logic.yaml --set "seed=1,2,3" --set "loss.preset=gradus:rar5,trl:dapo" --jobs 2
  $ gradus sweep logic.yaml --set "task.hops=[3, 4],[5, 6]" --dry-run`

/** Adds `gradus sweep` to the program. `done` receives the exit code. */
export const addSweepCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('sweep')
    .summary('train every combination of some settings')
    .description('Trains every combination of settings with several values, several runs at a time.')
    .argument('<recipe|file.yaml>', 'name of a recipe, or path of a YAML file')
    .requiredOption(
      '-s, --set <key=values...>',
      'a setting and its values, with commas between; may be repeated',
    )
    .option('-p, --preset <name>', 'named settings of the recipe')
    .option('-o, --out <dir>', 'folder of the sweep')
    .option('--jobs <n>', 'runs at a time; all cores by default', count)
    .option('--dry-run', 'print the runs, train nothing')
    .option('--json', 'print the comparison as JSON, no progress')
    .option('-q, --quiet', 'no progress')
    .addHelpText('after', HELP)
    .action(async (target: string, options: SweepOptions) => {
      const { sweepCommand } = await import('./sweep.ts')
      done(await sweepCommand(target, options, io))
    })
}
