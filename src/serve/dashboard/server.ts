/** @file The dashboard on a port: starts, says where it listens, ends at once when it is told to. */

import { fetchHandler } from '../http/exchange.ts'
import { Front, type FrontLog, tellUnhandled } from '../http/front.ts'
import type { Unhandled } from '../http/guards.ts'
import { frontLimitsOf } from '../http/limits.ts'
import { createApp } from './app.ts'
import { newContext, type ResultReaders } from './context.ts'
import { guardedHandler } from './guard.ts'
import { Library } from './library.ts'

export interface DashboardOptions extends ResultReaders {
  host?: string
  port?: number
  /** What readers must send; needed for an address that other machines reach. */
  token?: string | null
  /** Lets who sends it control runs; null: nobody can. */
  controlToken?: string | null
  /** Called with errors; nobody when absent. */
  log?: FrontLog
}

export interface Dashboard {
  url: string
  /** How many runs and experiments it found. */
  found: { runs: number; experiments: number }
  onUnhandled: Unhandled
  close(): Promise<void>
}

const BODY_BYTES = 64 * 1024

/**
 * Serves the runs under some folders until `close`. Port 0 takes a free one.
 * @throws DataError for a folder that is not there; ConfigError for an address that cannot be listened on
 */
export const startDashboard = async (
  roots: readonly string[],
  { host = '127.0.0.1', port = 0, token = null, controlToken = null, log, ...readers }: DashboardOptions = {},
): Promise<Dashboard> => {
  const library = new Library(roots)
  const context = newContext(library, readers)
  const app = createApp(context, controlToken)
  const front = new Front({
    handler: guardedHandler(fetchHandler(app), token),
    limits: frontLimitsOf({ bodyBytes: BODY_BYTES, drainNoticeMs: 0, drainMs: 2_000 }),
    log: log ?? null,
    hasKey: token !== null,
    errorBody: ({ message }) => ({ error: message }),
  })
  const { url } = await front.listen(host, port)
  // The table is there when somebody comes to look.
  void context.summaries.all(library.runs).catch(() => {})
  return {
    url,
    found: { runs: library.runs.length, experiments: library.experiments.length },
    onUnhandled: tellUnhandled(front, log),
    async close() {
      for (const stream of context.streams) stream.abort()
      await front.drain()
      front.close()
    },
  }
}
