/** @file The reward server in a process of its own, for benchmarks. */

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GradusError } from '../util/errors.ts'
import { workerUrl } from '../util/worker-url.ts'

const START_LIMIT_MS = 60_000

/** Megabytes of a process, as Linux tells it. */
export const residentMb = (pid: number): number | null => {
  try {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes === undefined ? null : Number(kilobytes) / 1024
  } catch {
    return null
  }
}

const addressOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = ''
    const refuse = (why: string) =>
      reject(new GradusError(`the reward server did not start: ${why}: ${said}`))
    const timer = setTimeout(() => refuse(`nothing within ${START_LIMIT_MS} ms`), START_LIMIT_MS)
    child.stderr!.on('data', (chunk: Buffer) => {
      said += chunk
      const url = /rewards at (http:\S+?),? /.exec(said)?.[1]
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    })
    child.once('exit', code => {
      clearTimeout(timer)
      refuse(`exit code ${code}`)
    })
  })

/** A `gradus serve reward` that listens. */
export interface RewardProcess {
  child: ChildProcess
  url: string
}

/**
 * Starts the reward server with a configuration, on a free port, without an access log.
 * @param folder where the configuration is written
 * @throws GradusError with what it said when it does not start
 */
export const startRewardProcess = async (folder: string, config: object): Promise<RewardProcess> => {
  const file = join(folder, 'reward.yaml')
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(config))
  const command = [fileURLToPath(workerUrl(import.meta.url, '../cli/main.js')), 'serve', 'reward']
  const args = [...command, '--config', file, '--port', '0', '--quiet']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  return { child, url: await addressOf(child) }
}
