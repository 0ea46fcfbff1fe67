/** @file `gradus serve tinker`: local models behind the Tinker training protocol, until it is told to stop. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fetchModel } from '../../model/fetch-model.ts'
import { modelNameOf } from '../../model/model-place.ts'
import { wholeModel } from '../../recipes/common/starting-model.ts'
import { keepGoing } from '../../serve/http/guards.ts'
import { tinkerLimitsOf } from '../../serve/tinker/limits.ts'
import { baseModel, startTinkerServer } from '../../serve/tinker/server.ts'
import { UsageError } from '../../util/errors.ts'
import { StatusLine } from '../../util/status-line.ts'
import { firstInterrupt } from '../interrupts.ts'
import { EXIT, type Io } from '../io.ts'
import { assertNotOpen, drained, keyOf, limitsOf, serverLog } from './options.ts'

export interface ServeTinkerOptions {
  model: string[]
  state: string
  host: string
  port: number
  threads: number
  maxRows: number
  keyEnv?: string
  limit?: Record<string, number>
}

/** @throws UsageError for names that are given twice; ConfigError, CheckpointError for what is no model */
const modelsOf = async (texts: readonly string[], io: Io) => {
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

/** @throws UsageError for an address that is open to all, names that are given twice, or limits that are none; as `fetchModel` */
export const serveTinker = async (options: ServeTinkerOptions, io: Io): Promise<number> => {
  const key = keyOf('--key-env', options.keyEnv)
  assertNotOpen(options.host, key, '--key-env')
  const { host, port, state, threads, maxRows } = options
  const limits = limitsOf(tinkerLimitsOf, options.limit)
  const models = await modelsOf(options.model, io)
  const interrupted = firstInterrupt(io)
  const engine = { threads, maxRows }
  const server = await startTinkerServer({
    models,
    state,
    host,
    port,
    engine,
    limits,
    key,
    log: serverLog(io),
  })
  const stopGoing = keepGoing(server.onUnhandled)
  io.err.write(`${models.map(({ name }) => name).join(', ')} at ${server.url} (Ctrl+C stops)\n`)
  await interrupted
  io.err.write('doing what was taken, then stopping; once more quits at once\n')
  const unanswered = await server.close()
  stopGoing()
  const { unsaved } = server.service
  const code = drained(unanswered, 'the limit drainMs', io)
  if (unsaved === 0) return code
  io.err.write(
    `${unsaved} models could not be saved, and what they learnt last is lost: see not-saved above\n`,
  )
  return EXIT.failed
}
