/** @file A server in a process of its own, as people start it. Needs `npm run build`. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))

export interface Launch {
  /** Of `gradus serve`. */
  args: readonly string[]
  /** Finds the address in what it says, as its first group. */
  says: RegExp
  env?: NodeJS.ProcessEnv
  /** Largest file that it may write, in KiB: stands in for a full disk. */
  mostFileKb?: number
}

const spawnServer = ({ args, env, mostFileKb }: Launch): ChildProcess => {
  const command = [process.execPath, MAIN, 'serve', ...args]
  const limited = ['bash', '-c', `trap '' XFSZ; ulimit -f ${mostFileKb}; exec "$@"`, 'bash', ...command]
  const [program, ...rest] = mostFileKb === undefined ? command : limited
  return spawn(program, rest, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
}

export class ServerProcess {
  readonly child: ChildProcess
  /** Everything that it wrote to stderr. */
  err = ''
  url = ''

  protected constructor(child: ChildProcess) {
    this.child = child
    child.stderr?.on('data', chunk => {
      this.err += chunk
    })
  }

  /** Resolves when it listens. */
  static async launch(launch: Launch): Promise<ServerProcess> {
    const started = new ServerProcess(spawnServer(launch))
    const { child } = started
    while (started.url === '') {
      await Promise.race([once(child.stderr!, 'data'), once(child, 'exit')])
      if (child.exitCode !== null) throw new Error(started.err)
      started.url = launch.says.exec(started.err)?.[1] ?? ''
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

  /** Lines of its log. */
  get log(): Record<string, unknown>[] {
    return this.err
      .split('\n')
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line))
  }
}
