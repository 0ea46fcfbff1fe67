/** @file `gradus plan`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { above0, atLeast0, count } from '../option-values.ts'
import type { PlanOptions } from './plan.ts'

const HELP = `
Nothing is run, called or downloaded. The model's shape comes from its folder, or from its name where that is published. What
nobody knows before (lengths of responses, what software makes of a GPU) is assumed, from quick over usual to slow; --assume says
it better. --gpus here goes by what \`gradus bench engine --json\` measured on this machine (--engine; else it is measured, for some
minutes). --check compares a run of this machine with its plan.

Examples:
  $ gradus plan ruscarl --preset paper --gpus H200:8 --judge-model Qwen3-32B --judge-gpus H200:8
  $ gradus plan rlcer --preset paper --gpus H100:16 --judge-rate 200 --assume responseShare=0.4
  $ gradus plan rit --preset paper --gpus H100:8 --gpu-price 2.5 --judge-price 0.5,1.5 --json
  $ gradus plan ruscarl --gpus here --engine bench.json
  $ gradus plan --check runs/a --engine bench.json`

/** Adds `gradus plan` to the program. `done` receives the exit code. */
export const addPlanCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('plan')
    .summary('what a training takes on given GPUs')
    .description('Time, bottleneck, memory and cost of a training on given GPUs, stage by stage.')
    .argument('[recipe|file.yaml]', 'name of a recipe, or path of a YAML file')
    .option('-p, --preset <name>', 'named settings of the recipe')
    .option('-s, --set <key=value...>', 'change one setting: dotted key, YAML value; may be repeated')
    .option('--gpus <name:count>', 'H100:8, or `here` for the engine on this machine')
    .option('--model <name>', "a published model in place of the configuration's: Qwen2.5-7B")
    .option('--judge-model <name>', 'the model that judges, on --judge-gpus')
    .option('--judge-gpus <name:count>', 'GPUs of the judge')
    .option('--judge-rate <n>', 'calls a second that the judge takes', above0)
    .option('--judge-tokens <n>', 'tokens of an answer of the judge', above0)
    .option('--micro-batch-tokens <n>', 'tokens that a GPU learns from at a time', count)
    .option('--gpu-price <n>', "price of a GPU's hour", atLeast0)
    .option('--judge-price <in,out>', 'prices of a million tokens of the judge')
    .option('--assume <name=value...>', 'a value in place of the one that the plan assumes; may be repeated')
    .option('--engine <file>', 'JSON of `gradus bench engine`')
    .option('--check <run>', 'compare the plan with what the steps of a run took')
    .option('--json', 'print the plan as JSON')
    .addHelpText('after', HELP)
    .action(async (target: string | undefined, options: PlanOptions) => {
      const { planCommand } = await import('./plan.ts')
      done(await planCommand(target, options, io))
    })
}
