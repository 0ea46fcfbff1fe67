/** @file `gradus profile`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Io } from '../io.ts'
import { bringFiles } from '../rows-option.ts'
import type { ProfileCommandOptions } from './profile.ts'

const HELP = `
A source is the output of "gradus grade --json", a file of rows as "gradus score" takes them, or the folder of a run. Of a
run its last evaluation on the primary test set counts, where that kept the criteria of each problem, else its rollouts.

Items are matched by id. Where they have rubrics of their own, criteria are put together by --by category or --by tag;
a group's figure is the mean of what is good about its criteria: credit of a reward, 1 - credit of a penalty.

Examples:
  $ gradus profile graded.jsonl --svg profile.svg
  $ gradus profile after.jsonl --against before.jsonl
  $ gradus profile runs/b --against runs/a --json
  $ gradus profile graded.jsonl --rubric healthbench.jsonl --by category`

const steps = (text: string): readonly [number, number] => {
  const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? []
  if (first === undefined || Number(last) < Number(first))
    throw new InvalidArgumentError('Expected steps such as 10-20.')
  return [Number(first), Number(last)]
}

/** Adds `gradus profile` to the program. `done` receives the exit code. */
export const addProfileCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('profile')
    .summary('how far each criterion is met')
    .description(
      'Satisfaction of each criterion with intervals, over a run or a graded file, or of two compared.',
    )
    .argument('<run|file>', 'run folder, or file of verdicts')
    .option('--against <run|file>', 'the model to compare with, on the same items')
    .option('--rubric <file>', 'rubric file: titles, points, categories, tags')
    .addOption(
      new Option('--by <what>', 'what is profiled')
        .choices(['criterion', 'category', 'tag'])
        .default('criterion'),
    )
    .addOption(new Option('--from <what>', 'of a run: which of its files').choices(['rollouts', 'eval']))
    .option('--set <name>', 'of a run: the test set')
    .option('--steps <a-b>', 'of a run: only rollouts of these steps', steps)
    .option('--svg <file>', 'write the picture there (.svg, or .html)')
    .option('--json', 'print the profile as JSON')
    .addHelpText('after', HELP)
    .action(async (source: string, options: ProfileCommandOptions) => {
      const { profileCommand } = await import('./profile.ts')
      await bringFiles(options.rubric)
      done(await profileCommand(source, options, io))
    })
}
