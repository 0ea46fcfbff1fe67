/** @file A chat server on a port: starts, says where it listens, and drains when it is told to stop. */

import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import type { LocalChat } from '../../policy/chat/local-chat.ts'
import { type ChatAppOptions, createChatApp } from './app.ts'

export interface ChatServer {
  url: string
  /** Accepts nothing more, answers what was accepted, and stops. */
  close(): Promise<void>
}

/** Serves a model until `close`. Port 0 takes a free one. @throws Error with `code` EADDRINUSE and the like. */
export const startChatServer = (
  model: LocalChat,
  { host = '127.0.0.1', port = 0, ...options }: ChatAppOptions & { host?: string; port?: number } = {},
): Promise<ChatServer> =>
  new Promise((resolve, reject) => {
    const { app, drain } = createChatApp(model, options)
    const server = serve({ fetch: app.fetch, hostname: host, port }, (address: AddressInfo) => {
      const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address
      resolve({ url: `http://${shownHost}:${address.port}`, close })
    })
    server.once('error', reject)
    const close = async () => {
      const closed = new Promise(done => server.close(done))
      if ('closeIdleConnections' in server) server.closeIdleConnections()
      await drain()
      await closed
      await model.policy.close()
    }
  })
