/** @file A `gradus serve` in a process of its own, and the folder that it has while a benchmark is at work. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GradusError } from '../util/errors.ts'
import { workerUrl } from '../util/worker-url.ts'

const START_LIMIT_MS = 120_000

/** A server that listens. */
export interface ServingProcess {
  child: ChildProcess
  url: string
}

interface Served {
  /** What it is called in errors. */
  what: string
  /** What stands after `gradus serve`, but for the port. */
  words(folder: string): string[]
  /** Finds its address in what it says. */
  address: RegExp
}

/** Does the work in a folder that is gone afterwards. */
export const inTemporaryFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const addressOf = (child: ChildProcess, { what, address }: Served): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = ''
    const refuse = (why: string) => reject(new GradusError(`${what} did not start: ${why}: ${said}`))
    const timer = setTimeout(() => refuse(`nothing within ${START_LIMIT_MS} ms`), START_LIMIT_MS)
    child.stderr!.on('data', (chunk: Buffer) => {
      said += chunk
      const url = address.exec(said)?.[1]
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    })
    child.once('exit', code => {
      clearTimeout(timer)
      refuse(`exit code ${code}`)
    })
  })

/**
 * Does the work beside a server on a free port, which is killed afterwards where it still runs.
 * @throws GradusError with what it said when it does not start
 */
export const withServer = <T>(served: Served, work: (server: ServingProcess) => Promise<T>): Promise<T> =>
  inTemporaryFolder(async folder => {
    const main = fileURLToPath(workerUrl(import.meta.url, '../cli/main.js'))
    const args = [main, 'serve', ...served.words(folder), '--port', '0']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    try {
      return await work({ child, url: await addressOf(child, served) })
    } finally {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
    }
  })

/** The same with a reward server of a configuration, without an access log. */
export const withRewardServer = <T>(
  config: object,
  work: (server: ServingProcess) => Promise<T>,
): Promise<T> => {
  const words = (folder: string): string[] => {
    const file = join(folder, 'reward.yaml')
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(config))
    return ['reward', '--config', file, '--quiet']
  }
  return withServer({ what: 'the reward server', words, address: /rewards at (http:\S+?),? / }, work)
}
