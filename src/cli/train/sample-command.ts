/** @file `gradus sample`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, Option } from 'commander'
import { DIALECTS } from '../../policy/served/dialect-names.ts'
import type { Io } from '../io.ts'
import { MODEL_HELP } from '../model-help.ts'
import { atLeast0, count, countOr0, share } from '../option-values.ts'
import type { SampleOptions } from './sample.ts'

const HELP = `
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
    .addOption(new Option('--dialect <name>', 'how the server is asked; told by itself').choices(DIALECTS))
    .option('--api-key-env <name>', "environment variable that holds the server's key")
    .option('--json', 'print {tokens, logprobs, text, finishReason}')
    .addHelpText('after', HELP)
    .action(async (options: SampleOptions) => {
      const { sampleCommand } = await import('./sample.ts')
      done(await sampleCommand(options, io))
    })
