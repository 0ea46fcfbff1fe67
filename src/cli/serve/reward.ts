/** @file `gradus serve reward`: the reward service until it is told to stop. */

import { dirname } from 'node:path'
import {
  inOwnThread,
  keepGoing,
  type RewardConfig,
  type RewardServer,
  readRewardConfig,
  rewardService,
  startRewardServer,
  type Unhandled,
} from '../../serve/reward/index.ts'
import { firstInterrupt } from '../interrupts.ts'
import { EXIT, type Io } from '../io.ts'
import { drained } from './options.ts'

export interface ServeRewardOptions {
  config: string
  host?: string
  port?: number
  check?: boolean
  quiet?: boolean
}

const check = async (config: RewardConfig, options: ServeRewardOptions, io: Io): Promise<number> => {
  const { service } = await rewardService(config, { folder: dirname(options.config) })
  await service.close()
  io.err.write(`${options.config}: fine\n`)
  return EXIT.ok
}

/** @throws ConfigError, DataError, CheckpointError for a configuration that cannot be used. */
export const serveReward = async (options: ServeRewardOptions, io: Io): Promise<number> => {
  const config = readRewardConfig(options.config)
  const { host = config.server.host, port = config.server.port } = options
  const log = { ...config.log, ...(options.quiet && { requests: false }) }
  const used = { ...config, server: { ...config.server, host, port }, log }
  if (options.check) return check(used, options, io)
  let server: RewardServer | undefined
  const onUnhandled: Unhandled = (kind, error) => server?.onUnhandled(kind, error)
  const back = await inOwnThread(used, {
    folder: dirname(options.config),
    writeLog: line => io.err.write(line),
    onUnhandled,
  })
  const interrupted = firstInterrupt(io)
  server = await startRewardServer(back, { host, port })
  const stopGoing = keepGoing(onUnhandled)
  const paths = used.routes.map(({ path }) => path).join(' ')
  io.err.write(`rewards at ${server.url}, paths ${paths} (Ctrl+C stops)\n`)
  back.log?.event('listening', { url: server.url })
  await interrupted
  io.err.write('answering what was accepted, then stopping; once more quits at once\n')
  const unanswered = await server.drain()
  stopGoing()
  back.log?.event('stopped', { unanswered })
  return drained(unanswered, `limits.drainMs (${used.limits.drainMs} ms)`, io)
}
