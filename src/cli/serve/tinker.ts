/** @file `gradus serve tinker`: local models behind the Tinker training protocol, until it is told to stop. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { UsageError } from '../../util/errors.ts'
import { EXIT, type Io } from '../io.ts'
import { assertNotOpen, keyOf, limit, wholeNumber } from './options.ts'

interface ServeTinkerOptions {
  model: string[]
  state: string
  host: string
  port: number
  threads: number
  maxRows: number
  keyEnv?: string
  limit?: Record<string, number>
}

const HELP = `
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

/** Adds `tinker` to `gradus serve`. `done` receives the exit code. */
export const addServeTinker = (serve: Command, io: Io, done: (code: number) => void): void => {
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
    .option('--port <n>', 'port; 0 takes a free one', wholeNumber(0), 8000)
    .addOption(new Option('--threads <n>', 'threads of an engine').argParser(wholeNumber(1)).default(2))
    .option('--max-rows <n>', 'samples that are drawn together', wholeNumber(1), 64)
    .option('--key-env <name>', 'environment variable with the key that clients must send')
    .option(
      '--limit <name=n>',
      'models, rank, pending, sessionMs, bodyBytes, drainMs, ... ; may be repeated',
      limit,
    )
    .addHelpText('after', HELP)
    .action(async (options: ServeTinkerOptions) => done(await serveTinker(options, io)))
}

/** Resolves at the first interrupt; the second one quits at once. */
const untilInterrupted = (io: Io): Promise<void> =>
  new Promise(done => {
    let before = false
    io.onInterrupt(() => {
      if (before) process.exit(EXIT.interrupted)
      before = true
      done()
    })
  })

/** @throws UsageError for names that are given twice; ConfigError, CheckpointError for what is no model */
const modelsOf = async (texts: readonly string[], io: Io) => {
  const { baseModel } = await import('../../serve/tinker/server.ts')
  const { fetchModel } = await import('../../model/fetch-model.ts')
  const { modelNameOf } = await import('../../model/model-place.ts')
  const { StatusLine } = await import('../../util/status-line.ts')
  const { wholeModel } = await import('../../recipes/common/starting-model.ts')
  const models: ReturnType<typeof baseModel>[] = []
  for (const text of texts) {
    // A name may look like a hub's, ORG/NAME; a folder with = in its path is a folder.
    const [, name, path] = (!existsSync(text) && /^([^=]+)=(.+)$/.exec(text)) || [null, undefined, text]
    await fetchModel(path, { status: new StatusLine(io.err) })
    const folder = resolve(wholeModel(path, '--model'))
    models.push(baseModel(folder, name ?? modelNameOf(path)?.repo ?? folder))
  }
  const twice = models.find(({ name }, i) => models.findIndex(other => other.name === name) < i)
  if (twice) throw new UsageError(`--model: the name ${twice.name} is given twice; say NAME=DIR`)
  return models
}

const serveTinker = async (options: ServeTinkerOptions, io: Io): Promise<number> => {
  const key = keyOf('--key-env', options.keyEnv)
  assertNotOpen(options.host, key, '--key-env')
  const { keepGoing } = await import('../../serve/http/guards.ts')
  const { startTinkerServer } = await import('../../serve/tinker/server.ts')
  const { host, port, state, threads, maxRows, limit: limits } = options
  const say = (fields: Record<string, unknown>) =>
    io.err.write(`${JSON.stringify({ time: new Date().toISOString(), ...fields })}\n`)
  const log = {
    refused: (entry: object) => say({ event: 'refused', ...entry }),
    event: (event: string, fields: object = {}) => say({ event, ...fields }),
  }
  const models = await modelsOf(options.model, io)
  const interrupted = untilInterrupted(io)
  const engine = { threads, maxRows }
  const server = await startTinkerServer({ models, state, host, port, engine, limits, key, log })
  const stopGoing = keepGoing(server.onUnhandled)
  io.err.write(`${models.map(({ name }) => name).join(', ')} at ${server.url} (Ctrl+C stops)\n`)
  await interrupted
  io.err.write('doing what was taken, then stopping; once more quits at once\n')
  const unanswered = await server.close()
  stopGoing()
  const { unsaved } = server.service
  if (unanswered > 0) io.err.write(`${unanswered} requests were not answered within the limit drainMs\n`)
  if (unsaved > 0)
    io.err.write(
      `${unsaved} models could not be saved, and what they learnt last is lost: see not-saved above\n`,
    )
  return unanswered === 0 && unsaved === 0 ? EXIT.ok : EXIT.failed
}
