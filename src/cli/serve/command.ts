/** @file `gradus serve`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, Option } from 'commander'
import type { Io } from '../io.ts'
import { count, MODEL_HELP, sampleBitsOption } from '../option-values.ts'
import type { ServeChatOptions } from './chat.ts'
import { limit, port } from './options.ts'
import { serveRewardBy } from './reward-command.ts'
import type { ServeTinkerOptions } from './tinker.ts'

const REWARD_EXAMPLES = [
  'gradus init reward my-rewards',
  'gradus serve reward --config my-rewards/reward.yaml',
  'GRADUS_TOKEN=... gradus serve reward --config reward.yaml --host 0.0.0.0 --port 8700',
]

const CHAT_HELP = `
Paths: /v1/chat/completions, /v1/completions, /v1/models, /healthz, /metrics. Streams; knows n, seed, stop, logprobs,
and of completions vLLM's return_token_ids, stop_token_ids, ignore_eos and prompt_logprobs (0).
A base model, which has no chat template, gets the messages' texts with a blank line between them, or the template of --template.
temperature, top_p and top_k that a request leaves out are those of the model's generation_config.json.

${MODEL_HELP}

Examples:
  $ gradus serve chat --model models/logic-start --port 8001
  $ gradus serve chat --model HuggingFaceTB/SmolLM2-135M-Instruct --adapter runs/mine/checkpoints/step-000060
  $ GRADUS_TOKEN=... gradus serve chat --model my-model --token-env GRADUS_TOKEN --host 0.0.0.0`

const TINKER_HELP = `
Training and sampling for clients of the Tinker protocol: the tinker SDK, tinker-cookbook, \`policy.kind: tinker\` here.
A model's name for clients is its folder's absolute path unless you say NAME=DIR; the name may look like a hub's (org/model).
Beside the protocol: /healthz, /metrics. The official SDK takes keys that begin with tml-. Clients train adapters, or all
weights with rank 0; the losses are cross_entropy, importance_sampling, ppo, cispo, dro, all of them sums over tokens.
Checkpoints are kept in the folder --state and outlive the server.

Ctrl+C or SIGTERM: nothing new is taken, what was taken is done and answered, models with steps that no checkpoint has are
saved under the name stopped, then it stops. A second one quits at once.

Examples:
  $ gradus serve tinker --model models/my-model --port 8000
  $ GRADUS_KEY=tml-... gradus serve tinker --model small=models/my-model --key-env GRADUS_KEY --host 0.0.0.0`

const collect = (text: string, before: string[] = []): string[] => [...before, text]

/** Adds `gradus serve` to the program. `done` receives the exit code. */
export const addServeCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  const serve = program
    .command('serve')
    .summary('serve rewards to trainers, a model to chat clients, training to Tinker clients')
    .description(
      'Serves rewards to other trainers, a local checkpoint to chat clients, or training to Tinker clients.',
    )
  const reward = serve.command('reward').summary('serve rewards to TRL, verl, OpenRLHF, slime, NeMo-Gym')
  serveRewardBy(reward, io, done, REWARD_EXAMPLES)
  addChat(serve, io, done)
  addTinker(serve, io, done)
}

const addChat = (serve: Command, io: Io, done: (code: number) => void): void => {
  serve
    .command('chat')
    .summary('serve a local checkpoint to chat clients')
    .description('Serves a local checkpoint by the OpenAI-compatible chat and completion endpoints.')
    .requiredOption('--model <model>', 'folder with a tokenizer, or name on the hub')
    .option('--adapter <dir>', 'adapter that goes on the model: a folder, package:..., or a name on the hub')
    .option('--name <name>', "the model's name for clients; that of the folder when absent")
    .option('--template <file>', "Jinja chat template in place of the model's own")
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port; 0 takes a free one', port, 8001)
    .addOption(new Option('--threads <n>', 'threads of the engine').argParser(count).default(2))
    .addOption(sampleBitsOption())
    .option('--max-rows <n>', 'samples that are drawn together', count, 64)
    .option('--token-env <name>', 'environment variable with the bearer token that clients must send')
    .option('--limit <name=n>', 'bodyBytes, requests, bodyMs, drainMs, ... ; may be repeated', limit, {})
    .addHelpText('after', CHAT_HELP)
    .action(async (options: ServeChatOptions) => {
      const { serveChat } = await import('./chat.ts')
      done(await serveChat(options, io))
    })
}

const addTinker = (serve: Command, io: Io, done: (code: number) => void): void => {
  serve
    .command('tinker')
    .summary('serve training of local models to Tinker clients')
    .description('Serves training and sampling of local models by the Tinker training protocol.')
    .requiredOption(
      '--model <dir>',
      'model folder or name on the hub, or NAME=DIR; needed, may be repeated',
      collect,
    )
    .option('--state <dir>', 'folder of checkpoints', 'runs/tinker')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port; 0 takes a free one', port, 8000)
    .addOption(new Option('--threads <n>', 'threads of an engine').argParser(count).default(2))
    .option('--max-rows <n>', 'samples that are drawn together', count, 64)
    .option('--key-env <name>', 'environment variable with the key that clients must send')
    .option(
      '--limit <name=n>',
      'models, rank, pending, sessionMs, bodyBytes, drainMs, ... ; may be repeated',
      limit,
    )
    .addHelpText('after', TINKER_HELP)
    .action(async (options: ServeTinkerOptions) => {
      const { serveTinker } = await import('./tinker.ts')
      done(await serveTinker(options, io))
    })
}
