/** @file The service on a port: starts, says where it listens, and drains when it is told to stop. */

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { ConfigError } from '../../util/errors.ts'
import { type AppParts, rewardApp } from './app.ts'

export interface RewardServer {
  url: string
  port: number
  /**
   * Says that it is not ready, then accepts nothing more, answers what was accepted, and stops.
   * @returns how many requests were left unanswered when `limits.drainMs` had passed; 0 as a rule
   */
  drain(): Promise<number>
}

/** Longer than clients keep idle connections, so that it is not we who cut one off under a request. */
const KEEP_ALIVE_MS = 120_000

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

const listenError = (error: NodeJS.ErrnoException, host: string, port: number): Error => {
  if (error.code === 'EADDRINUSE')
    return new ConfigError(`port ${port} is taken`, {
      hint: 'choose another with --port; 0 takes a free one',
    })
  return new ConfigError(`cannot listen on ${host}:${port}: ${error.message}`, { cause: error })
}

const listen = (server: Server, host: string, port: number): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once('error', error => reject(listenError(error, host, port)))
    server.listen(port, host, () => resolve(server.address() as AddressInfo))
  })

/** Serves until `drain`. @throws ConfigError for an address that cannot be listened on */
export const startRewardServer = async (
  parts: AppParts,
  { host, port }: { host: string; port: number },
): Promise<RewardServer> => {
  const server = createAdaptorServer({ fetch: rewardApp(parts).fetch }) as Server
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.headersTimeout = KEEP_ALIVE_MS + 5_000
  const address = await listen(server, host, port)
  const { lifecycle, service } = parts
  const { drainNoticeMs, drainMs } = service.config.limits
  const drain = async (): Promise<number> => {
    lifecycle.beginDraining()
    await sleep(drainNoticeMs)
    const closed = new Promise(resolve => server.close(resolve))
    const idle = await lifecycle.idle(drainMs)
    lifecycle.refuse()
    const unanswered = idle ? 0 : lifecycle.openRequests
    // Connections without a request under way, and requests that took too long.
    server.closeAllConnections()
    await closed
    await service.close()
    return unanswered
  }
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return { url: `http://${shown}:${address.port}`, port: address.port, drain }
}
