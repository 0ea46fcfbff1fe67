/** @file Starts a scripted judge in a process of its own, asks it how it is, kills and restarts it. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { GradusError } from '../../../util/errors.ts'
import { workerUrl } from '../../../util/worker-url.ts'
import type { ScriptedServerOptions, ScriptedServerStats } from './server.ts'

export interface ScriptedProcessOptions extends ScriptedServerOptions {
  /** Gets a line `case rule outcome` an answer; a restarted judge goes on in it. */
  logFile?: string
}

type Message = { url: string } | { stats: ScriptedServerStats }

const ENTRY = fileURLToPath(workerUrl(import.meta.url, './process.js'))

/** The next message; rejects when the process ends instead. */
const nextMessage = (child: ChildProcess): Promise<Message> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new GradusError(`the scripted judge ended with ${code}`))
    child.once('exit', onExit)
    child.once('message', (message: Message) => {
      child.off('exit', onExit)
      resolve(message)
    })
  })

const spawn = async (options: ScriptedProcessOptions): Promise<{ child: ChildProcess; url: string }> => {
  const child = fork(ENTRY, [JSON.stringify(options)], { execArgv: [], stdio: ['ignore', 2, 2, 'ipc'] })
  const message = await nextMessage(child)
  if (!('url' in message)) throw new GradusError('the scripted judge did not say where it listens')
  return { child, url: message.url }
}

export class ScriptedProcess {
  readonly url: string
  readonly #options: ScriptedProcessOptions
  #child: ChildProcess

  private constructor(options: ScriptedProcessOptions, child: ChildProcess, url: string) {
    this.#options = options
    this.#child = child
    this.url = url
  }

  /** @throws GradusError when the process does not start */
  static async start(options: ScriptedProcessOptions = {}): Promise<ScriptedProcess> {
    const { child, url } = await spawn(options)
    return new ScriptedProcess(options, child, url)
  }

  async stats(): Promise<ScriptedServerStats> {
    const reply = nextMessage(this.#child)
    this.#child.send('stats')
    const message = await reply
    if (!('stats' in message)) throw new GradusError('the scripted judge gave no statistics')
    return message.stats
  }

  /** Ends it at once, with whatever it is doing. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  /** Starts it anew on the same port. @param seed other faults than before */
  async restart(seed: string): Promise<void> {
    await this.kill()
    const port = Number(new URL(this.url).port)
    this.#child = (await spawn({ ...this.#options, port, seed })).child
  }
}
