/** @file `gradus serve chat`: a local checkpoint as an OpenAI-compatible endpoint, until it is told to stop. */

import { type Command, Option } from 'commander'
import { EXIT, type Io } from '../io.ts'
import { MODEL_HELP } from '../model-help.ts'
import { assertNotOpen, keyOf, limit, wholeNumber } from './options.ts'

interface ServeChatOptions {
  model: string
  adapter?: string
  name?: string
  template?: string
  host: string
  port: number
  threads: number
  maxRows: number
  tokenEnv?: string
  limit: Record<string, number>
}

const HELP = `
Paths: /v1/chat/completions, /v1/completions, /v1/models, /healthz, /metrics. Streams; knows n, seed, stop, logprobs,
and of completions vLLM's return_token_ids, stop_token_ids, ignore_eos and prompt_logprobs (0).
A base model, which has no chat template, gets the messages' texts with a blank line between them, or the template of --template.
What a request leaves open of temperature, top_p and top_k is as the model's generation_config.json has it.

${MODEL_HELP}

Examples:
  $ gradus serve chat --model models/logic-start --port 8001
  $ gradus serve chat --model HuggingFaceTB/SmolLM2-135M-Instruct --adapter runs/mine/checkpoints/step-000060
  $ GRADUS_TOKEN=... gradus serve chat --model my-model --token-env GRADUS_TOKEN --host 0.0.0.0`

/** Adds `chat` to `gradus serve`. `done` receives the exit code. */
export const addServeChat = (serve: Command, io: Io, done: (code: number) => void): void => {
  serve
    .command('chat')
    .summary('serve a local checkpoint to chat clients')
    .description('Serves a local checkpoint by the OpenAI-compatible chat and completion endpoints.')
    .requiredOption('--model <model>', 'folder with a tokenizer, or name on the hub')
    .option('--adapter <dir>', 'adapter that goes on the model: a folder, package:..., or a name on the hub')
    .option('--name <name>', "the model's name for clients; that of the folder when absent")
    .option('--template <file>', "Jinja chat template in place of the model's own")
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port; 0 takes a free one', wholeNumber(0), 8001)
    .addOption(new Option('--threads <n>', 'threads of the engine').argParser(wholeNumber(1)).default(2))
    .option('--max-rows <n>', 'samples that are drawn together', wholeNumber(1), 64)
    .option('--token-env <name>', 'environment variable with the bearer token that clients must send')
    .option('--limit <name=n>', 'bodyBytes, requests, bodyMs, drainMs, ... ; may be repeated', limit, {})
    .addHelpText('after', HELP)
    .action(async (options: ServeChatOptions) => done(await serveChat(options, io)))
}

const serveChat = async (options: ServeChatOptions, io: Io): Promise<number> => {
  const token = keyOf('--token-env', options.tokenEnv)
  assertNotOpen(options.host, token, '--token-env')
  const { openLocalChat } = await import('../../policy/chat/local-chat.ts')
  const { chatLimits, startChatServer } = await import('../../serve/chat/server.ts')
  const { keepGoing } = await import('../../serve/http/guards.ts')
  const limits = chatLimits(options.limit)
  const { WITHOUT_TEMPLATE } = await import('../../model/chat-format.ts')
  const { describeSampling } = await import('../../model/generation-config.ts')
  const { fetchedModel } = await import('../model-option.ts')
  const { adapter } = await fetchedModel(options, io)
  const model = await openLocalChat(options.model, { ...options, adapter })
  if (!model.ownTemplate)
    io.err.write(
      `note: this is a base model, which has no chat template: messages are joined as plain text; ${WITHOUT_TEMPLATE}\n`,
    )
  const sampling = describeSampling(model.generation)
  if (sampling) io.err.write(`where a request says nothing: ${sampling}\n`)
  const { host, port, maxRows } = options
  const say = (fields: Record<string, unknown>) =>
    io.err.write(`${JSON.stringify({ time: new Date().toISOString(), ...fields })}\n`)
  const log = {
    refused: (entry: object) => say({ event: 'refused', ...entry }),
    event: (event: string, fields: object = {}) => say({ event, ...fields }),
  }
  const server = await startChatServer(model, { host, port, maxRows, token, log, limits })
  const stopGoing = keepGoing(server.onUnhandled)
  io.err.write(`${model.name} at ${server.url}/v1 (Ctrl+C stops)\n`)
  await new Promise<void>(resolve => {
    const stop = io.onInterrupt(() => {
      stop()
      resolve()
    })
  })
  io.err.write('answering what was accepted, then stopping\n')
  const unanswered = await server.close()
  stopGoing()
  if (unanswered === 0) return EXIT.ok
  io.err.write(`${unanswered} requests were not answered within the limit drainMs\n`)
  return EXIT.failed
}
