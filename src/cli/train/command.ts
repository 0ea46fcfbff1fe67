/** @file `gradus train`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, Option } from 'commander'
import { DIALECTS } from '../../policy/served/dialect-names.ts'
import { UsageError } from '../../util/errors.ts'
import type { Io } from '../io.ts'
import { atLeast0, count, countOr0, MODEL_HELP, share } from '../option-values.ts'
import type { SampleOptions } from './sample.ts'
import type { TrainOptions } from './train.ts'

const HELP = `
Settings come from, each over the one before: defaults, preset, YAML file, --set.
A YAML file names its recipe ("recipe: rubric-as-reward"); its other keys are the recipe's settings.

Examples:
  $ gradus train rubric-as-reward
  $ gradus train rubric-as-reward --preset full --out runs/full
  $ gradus train rubric-as-reward --preset paper --dry-run
  $ gradus train ruscarl --settings rollout
  $ gradus train logic.yaml --set seed=2 --set rollout.samples=16
  $ gradus train rubric-as-reward --resume
  $ gradus train logic.yaml --out runs/a --resume-or-start
  $ gradus train --out runs/a --resume --set steps=120
  $ gradus train --from runs/a --set optimizer.learningRate.peak=1e-4
  $ gradus train logic.yaml --from runs/a/50 --out runs/b

A resume may change steps, maxMinutes, evaluation.every, policy (but for its kind and
sampleBits), checkpoint, monitors, trackers, and addresses and caches of judges; any other change is refused.
--from begins a new run, with any settings, from the weights and the optimiser of another; its steps count from 1. Without a
recipe or file, --from RUN and --out RUN --resume take the settings of that run.

Ctrl+C or SIGTERM finishes the step, saves and prints the command that goes on (exit 130); twice quits at once. A monitor with
action stop does the same with exit 100; --resume goes on, --resume-or-start leaves it stopped.`

/** Recipes and their presets by name; loaded only where the help of `train` is asked for. */
export const recipeHelp = async (args: readonly string[]): Promise<string> => {
  const asked = args.includes('train') && args.some(arg => ['-h', '--help', 'help'].includes(arg))
  if (!asked) return ''
  const { RECIPES_BY_NAME } = await import('../../recipes/by-name.ts')
  const width = Math.max(...Object.keys(RECIPES_BY_NAME).map(name => name.length))
  const lines = Object.entries(RECIPES_BY_NAME).map(
    ([
      name,
      {
        presets: [first, ...others],
      },
    ]) => `  ${name.padEnd(width)}  ${[`${first} (default)`, ...others].join(', ')}`,
  )
  return `\nRecipes and their presets:\n${lines.join('\n')}\n`
}

interface ActionOptions {
  baseline?: boolean
  settings?: string | true
  jsonSchema?: boolean
}

/** Adds `gradus train` to the program. `done` receives the exit code; `recipes` is part of the help. */
export const addTrainCommand = (program: Command, io: Io, done: (code: number) => void, recipes: string) =>
  program
    .command('train')
    .summary('train a model by a recipe')
    .description(
      'Trains a model by a recipe, or by a YAML file that names one; leaves a run folder with a report.',
    )
    .argument('[recipe|file.yaml]', 'name of a recipe, or path of a YAML file')
    .option('-p, --preset <name>', 'named settings of the recipe')
    .option('-s, --set <key=value...>', 'change one setting: dotted key, YAML value; may be repeated')
    .option('-o, --out <dir>', 'folder of the run')
    .option('--from <run>', 'begin with the weights and the optimiser of a run, or RUN/STEP')
    .option('--resume', 'go on from the latest checkpoint that is whole')
    .option('--resume-or-start', 'go on if there is a run to go on with, else start; for schedulers')
    .option('--accept-rows', 'go on although recorded rows are damaged')
    .option('--baseline', 'only evaluate the start (steps=0); --resume --set steps=N trains on from there')
    .option('--dry-run', 'print the plan with time and memory and whether it is feasible here, run nothing')
    .option(
      '--settings [section]',
      'print every setting, or those of a section, with type, default and meaning',
    )
    .option('--json-schema', 'print the JSON Schema of YAML files of the recipe, for editors')
    .option('--dashboard', 'serve a page of the run while it trains; on a terminal it is by default')
    .option('--no-dashboard', 'serve none')
    .option('--json', 'print the result as JSON, no progress')
    .option('-q, --quiet', 'no progress')
    .addHelpText('after', `${recipes}${HELP}`)
    .action(async (target: string | undefined, options: TrainOptions & ActionOptions) => {
      const { settings, jsonSchema, preset, set, json, baseline } = options
      if (settings !== undefined || jsonSchema) {
        const { listSettings, printJsonSchema } = await import('./list-settings.ts')
        if (target === undefined)
          throw new UsageError(
            `${jsonSchema ? '--json-schema' : '--settings'}: expected a recipe or a YAML file beside it, got none`,
            { hint: 'name one: gradus train rit --settings' },
          )
        const request = { target, preset, set }
        done(
          jsonSchema
            ? await printJsonSchema(request, io)
            : await listSettings(request, { section: settings!, json }, io),
        )
        return
      }
      const { trainCommand } = await import('./train.ts')
      const asked = baseline ? { ...options, set: [...(set ?? []), 'steps=0'] } : options
      done(await trainCommand(target, asked, io))
    })

const SAMPLE_HELP = `
${MODEL_HELP} Or it is a model on a server (vLLM, SGLang, gradus serve chat): http://127.0.0.1:8000/v1#NAME, or the address alone
where the server has one model. A --prompt becomes tokens at the server, or here by the tokenizer in the folder that --tokenizer
names. Log-probs are as the server gives them.

What is not said of temperature, top-k and top-p is as the generation_config.json of a model in a folder has it; stderr tells.
Trainings and \`gradus eval\` never read that: they have settings of their own.

Examples:
  $ gradus sample --model models/logic-start --prompt "Every wumpus is a zumpus. ..." --max-tokens 96
  $ gradus sample --model HuggingFaceTB/SmolLM2-135M-Instruct --chat --prompt "How do I boil an egg?"
  $ gradus sample --model package:models/chat-start --chat --prompt "How do I boil an egg?"
  $ gradus sample --model stories260K --prompt-tokens 1 --temperature 0 --max-tokens 64 --json
  $ gradus sample --model http://127.0.0.1:8000/v1#Qwen/Qwen3-0.6B --prompt "The sea is" --json`

const tokenIds = (text: string): number[] => text.split(',').map(countOr0)

/** Adds `gradus sample` to the program. `done` receives the exit code. */
export const addSampleCommand = (program: Command, io: Io, done: (code: number) => void) =>
  program
    .command('sample')
    .summary('continue a prompt')
    .description(
      'Continues one prompt, given as text or as token ids; prints the new text or, with --json, tokens too.',
    )
    .requiredOption('--model <model>', 'folder, name on the hub, or URL#NAME of a model on a server')
    .option('--adapter <dir>', 'adapter that goes on the model: a folder, package:..., or a name on the hub')
    .option('--prompt <text>', 'prompt as text; needs a tokenizer in the folder')
    .option('--chat', 'the prompt is what a user says to a chat model in a folder; its answer is printed')
    .option('--template <file>', "with --chat: Jinja chat template in place of the model's own")
    .option('--prompt-tokens <ids>', 'prompt as token ids: 1,2,3', tokenIds)
    .option('--max-tokens <n>', 'most new tokens', count, 128)
    .option(
      '--temperature <t>',
      'sampling temperature; 0 is greedy (default: the model says, else 1)',
      atLeast0,
    )
    .option('--top-k <k>', 'only the k likeliest tokens; 0: all (default: the model says, else 0)', countOr0)
    .option(
      '--top-p <p>',
      'only the likeliest tokens that together reach this probability (default: the model says, else 1)',
      share,
    )
    .option('--seed <s>', 'seed of sampling', '1')
    .option('--threads <n>', 'threads of the engine', count, 2)
    .option('--tokenizer <dir>', 'folder with the tokenizer of a model on a server, or its name on the hub')
    .addOption(new Option('--dialect <name>', 'API dialect of the server; detected').choices(DIALECTS))
    .option('--api-key-env <name>', "environment variable that holds the server's key")
    .option('--json', 'print {tokens, logprobs, text, finishReason}')
    .addHelpText('after', SAMPLE_HELP)
    .action(async (options: SampleOptions) => {
      const { sampleCommand } = await import('./sample.ts')
      done(await sampleCommand(options, io))
    })
