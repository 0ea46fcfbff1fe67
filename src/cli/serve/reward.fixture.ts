/** @file The reward service in a process of its own, as people start it. Needs `npm run build`. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))

export class RewardProcess {
  readonly child: ChildProcess
  /** Everything that it wrote to stderr. */
  err = ''
  url = ''

  private constructor(child: ChildProcess) {
    this.child = child
    child.stderr?.on('data', chunk => {
      this.err += chunk
    })
  }

  /** Starts it on a free port, unless `args` have one; resolves when it listens. */
  static async start(
    config: string,
    args: string[] = [],
    env: NodeJS.ProcessEnv = {},
  ): Promise<RewardProcess> {
    const all = [MAIN, 'serve', 'reward', '--config', config, '--port', '0', ...args]
    const child = spawn(process.execPath, all, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const started = new RewardProcess(child)
    while (started.url === '') {
      await Promise.race([once(child.stderr!, 'data'), once(child, 'exit')])
      if (child.exitCode !== null) throw new Error(started.err)
      started.url = /rewards at (\S+),/.exec(started.err)?.[1] ?? ''
    }
    return started
  }

  /** Waits for the end; the exit code, or the signal that killed it. */
  async ended(): Promise<number | string> {
    const { child } = this
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    return child.exitCode ?? String(child.signalCode)
  }

  /** Sends a signal and waits for the end. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string> {
    this.child.kill(signal)
    return this.ended()
  }

  /** Lines of its access log. */
  get log(): Record<string, unknown>[] {
    return this.err
      .split('\n')
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line))
  }
}
