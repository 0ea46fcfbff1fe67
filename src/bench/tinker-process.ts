/** @file `gradus serve tinker` in a process of its own, for benchmarks. */

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { GradusError } from '../util/errors.ts'
import { workerUrl } from '../util/worker-url.ts'

const START_LIMIT_MS = 120_000

/**
 * Starts a training service of one thread on a free port.
 * @param model as `--model` takes it
 * @param state folder of its checkpoints
 * @throws GradusError with what it said when it does not start
 */
export const startTinkerProcess = async (
  model: string,
  state: string,
): Promise<{ child: ChildProcess; url: string }> => {
  const command = [fileURLToPath(workerUrl(import.meta.url, '../cli/main.js')), 'serve', 'tinker']
  const args = [...command, '--model', model, '--state', state, '--port', '0', '--threads', '1']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  return { child, url: await addressOf(child) }
}

const addressOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = ''
    const refuse = (why: string) => {
      child.kill('SIGKILL')
      reject(new GradusError(`the training service did not start: ${why}: ${said}`))
    }
    const timer = setTimeout(() => refuse(`nothing within ${START_LIMIT_MS} ms`), START_LIMIT_MS)
    child.stderr!.on('data', (chunk: Buffer) => {
      said += chunk
      const url = /(http:\/\/127\.0\.0\.1:\d+)/.exec(said)?.[1]
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    })
    child.once('exit', code => {
      clearTimeout(timer)
      refuse(`exit code ${code}`)
    })
  })
