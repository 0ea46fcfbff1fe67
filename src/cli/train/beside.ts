/** @file The dashboard beside a training: a process of its own, so that looking slows nothing, which ends with this one. */

import { type ChildProcess, spawn } from 'node:child_process'
import { basename, dirname, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { tryJson } from '../../util/json.ts'
import { workerUrl } from '../../util/worker-url.ts'
import type { Io } from '../io.ts'

/** Its usual port, where that is free. */
const PORT = 8710

const started = z.object({ url: z.string(), controlToken: z.string().nullable() })

/** What decides whether a dashboard is served: what was asked, else whether somebody sits before a terminal. */
export const wantsDashboard = (
  { dashboard, quiet, json }: { dashboard?: boolean; quiet?: boolean; json?: boolean },
  io: Pick<Io, 'err'>,
  env: Readonly<Record<string, string | undefined>> = process.env,
): boolean => {
  if (dashboard !== undefined) return dashboard
  return io.err.isTTY === true && !quiet && !json && (env.CI ?? '') === '' && env.VITEST === undefined
}

export interface BesideDashboard {
  close(): void
}

/** One line of its output: the address; null where it ended without one. */
const firstLine = (child: ChildProcess): Promise<string | null> =>
  new Promise(found => {
    const lines = createInterface({ input: child.stdout! })
    lines.once('line', found)
    child.once('error', () => found(null))
    child.once('exit', () => found(null))
  })

const launch = (folder: string, port: number): ChildProcess =>
  spawn(
    process.execPath,
    [
      fileURLToPath(workerUrl(import.meta.url, '../main.js')),
      ...['dashboard', folder, '--json', '--with-parent', '--port', String(port)],
    ],
    // It lives as long as our end of its input is open: also a kill ends it.
    { stdio: ['pipe', 'pipe', 'ignore'] },
  )

const release = (child: ChildProcess): void => {
  child.unref()
  for (const stream of [child.stdin, child.stdout])
    (stream as unknown as { unref?(): void } | null)?.unref?.()
}

/**
 * Serves the folder that a run lies in, and says where. A dashboard that cannot be started is told, and the training goes on.
 * @param runDir folder of the run
 */
export const dashboardBeside = (runDir: string, say: (text: string) => void): BesideDashboard => {
  let child: ChildProcess | null = null
  let closed = false
  const begin = async (port: number): Promise<void> => {
    child = launch(dirname(resolve(runDir)), port)
    child.stdin?.on('error', () => {})
    release(child)
    const line = await firstLine(child)
    if (closed) return
    const found = started.safeParse(line === null ? null : tryJson(line))
    if (found.success) {
      const { url, controlToken } = found.data
      const page = `${url}/run/${encodeURIComponent(basename(resolve(runDir)))}`
      say(`dashboard ${page}${controlToken === null ? '' : `#token=${controlToken}`}`)
    } else if (port !== 0) await begin(0)
    else say('the dashboard could not be started; gradus dashboard says why')
  }
  void begin(PORT).catch(() => {})
  return {
    close() {
      closed = true
      child?.stdin?.end()
      child?.kill()
    },
  }
}
