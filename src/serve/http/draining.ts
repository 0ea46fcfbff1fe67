/** @file How a server stops listening without losing what was sent to it. */

import { Server as NetServer } from 'node:net'
import type { Connections } from './connections.ts'

/** Connections are looked at so often, and one without a request is ended after so long without a byte. */
const LOOK_MS = 50
const IDLE_MS = 1_000
/** Turns of the loop without a new connection before the listener is closed, and how long that may take. */
const QUIET_TURNS = 5
const ACCEPT_LIMIT_MS = 2_000

export const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
const immediate = () => new Promise(resolve => setImmediate(resolve))

/**
 * Takes the connections that the kernel has accepted and that it would reset with the listener. The loop polls between
 * immediates, and may take but one of them each time.
 */
const acceptWaiting = async (connections: Connections): Promise<void> => {
  const deadlineMs = performance.now() + ACCEPT_LIMIT_MS
  for (let quiet = 0; quiet < QUIET_TURNS && performance.now() < deadlineMs; quiet++) {
    const before = connections.accepted
    await immediate()
    if (connections.accepted > before) quiet = -1
  }
}

/**
 * Takes no new connections, and ends those that are open when nothing has come on them for a while, for `drainMs` at most.
 * @returns what resolves when the listener is closed: not before the last connection is
 */
export const endIdle = async (
  server: NetServer,
  connections: Connections,
  drainMs: number,
): Promise<{ closed: Promise<unknown> }> => {
  await acceptWaiting(connections)
  // Not the HTTP server's own close, which cuts idle connections off, whatever lies unread in their buffers.
  const closed = new Promise(resolve => NetServer.prototype.close.call(server, resolve))
  const deadlineMs = performance.now() + drainMs
  while (connections.size > 0 && performance.now() < deadlineMs) {
    await sleep(LOOK_MS)
    await immediate()
    connections.endIdle(IDLE_MS)
  }
  return { closed }
}
