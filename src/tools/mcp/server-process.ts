/**
 * @file A server's process with messages on its stdin and stdout, as a transport of the SDK. In place of the SDK's own because that
 * one ends the process it started and not what that started in turn (`npx`, a shell), and breaks off at a message that is too long.
 */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js'
import { serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js'
import { isTooIntricate } from '../../chat/json-size.ts'
import { systemErrorText } from '../../util/file-failure.ts'
import { parseJson } from '../../util/json.ts'
import { ToolError } from '../tool.ts'

export interface ServerCommand {
  command: string
  args: readonly string[]
  /** Beside the few that every process needs (`PATH`, `HOME`). */
  env: Readonly<Record<string, string>>
  cwd?: string
  /** Most bytes of a message. */
  maxMessageBytes: number
}

/** What a server is given to end by itself, and again after it was asked to. */
const GRACE_MS = 2_000
/** How long what an ended server wrote is waited for. */
const LAST_WORDS_MS = 1_000
/** A server that writes so much that is no message, without one between, is ended. */
const MAX_GARBAGE_BYTES = 64 * 1024 * 1024
const STDERR_CHARS = 2_000
const HAS_GROUPS = process.platform !== 'win32'

/** Processes that run, by the number of their group: none outlives this process. */
const running = new Set<number>()

const signalGroup = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(HAS_GROUPS ? -pid : pid, signal)
  } catch {
    // Nobody of the group is left.
  }
}

let endsWithUs = false
const endWithUs = (): void => {
  if (endsWithUs) return
  endsWithUs = true
  process.on('exit', () => {
    for (const pid of running) signalGroup(pid, 'SIGKILL')
  })
}

const sleep = (ms: number): Promise<false> =>
  new Promise(resolve => {
    setTimeout(() => resolve(false), ms).unref()
  })

export class ServerProcess implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** Called with an answer that is too long: nobody knows whose. */
  onTooLong?: (bytes: number) => void
  readonly #command: ServerCommand
  #child: ChildProcessWithoutNullStreams | null = null
  #exited: Promise<true> = Promise.resolve(true)
  #line: Buffer[] = []
  #lineBytes = 0
  #garbageBytes = 0
  #garbageLines = 0
  #stderr = ''
  #ending = ''

  constructor(command: ServerCommand) {
    this.#command = command
  }

  /** What its stderr said last. */
  get stderr(): string {
    return this.#stderr
  }

  /** Lines of its stdout that were no messages. */
  get garbageLines(): number {
    return this.#garbageLines
  }

  /** How it ended: `exit code 1`; '' while it runs. */
  get ending(): string {
    return this.#ending
  }

  /** @throws ToolError `unreachable` where the command cannot be started */
  start(): Promise<void> {
    const { command, args, env, cwd } = this.#command
    const child = spawn(command, [...args], {
      env: { ...getDefaultEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: HAS_GROUPS,
      windowsHide: true,
      ...(cwd !== undefined && { cwd }),
    })
    this.#child = child
    endWithUs()
    if (child.pid !== undefined) running.add(child.pid)
    this.#exited = new Promise(resolve => {
      child.once('exit', (code, signal) => {
        this.#ending = signal === null ? `exit code ${code}` : `ended by ${signal}`
        resolve(true)
        void this.#finish()
      })
    })
    child.stdout.on('data', (chunk: Buffer) => this.#take(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = `${this.#stderr}${chunk.toString('utf8')}`.slice(-STDERR_CHARS)
    })
    // A server that is gone does not read: its exit says so.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {})
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', error => {
        const why = systemErrorText(error) ?? error.message
        reject(new ToolError('unreachable', `${command}: cannot be started: ${why}`, { cause: error }))
      })
    })
  }

  /** After its exit: ends what it started, reads what was written last, and tells once. */
  async #finish(): Promise<void> {
    const child = this.#child
    if (child === null) return
    this.#child = null
    const read = new Promise(resolve => child.once('close', resolve))
    if (child.pid !== undefined) {
      signalGroup(child.pid, 'SIGKILL')
      running.delete(child.pid)
    }
    // One that left the group may hold its stdout open.
    await Promise.race([read, sleep(LAST_WORDS_MS)])
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    this.onclose?.()
  }

  #take(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
      this.#hold(chunk.subarray(from, end))
      this.#endLine()
      from = end + 1
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from))
    if (this.#garbageBytes > MAX_GARBAGE_BYTES && this.#child?.pid !== undefined)
      signalGroup(this.#child.pid, 'SIGKILL')
  }

  #hold(part: Buffer): void {
    const before = this.#lineBytes
    this.#lineBytes += part.length
    if (this.#lineBytes <= this.#command.maxMessageBytes) {
      this.#line.push(part)
      return
    }
    this.#line = []
    this.#garbageBytes += part.length
    if (before <= this.#command.maxMessageBytes) this.onTooLong?.(this.#command.maxMessageBytes)
  }

  #endLine(): void {
    const [line, bytes] = [this.#line, this.#lineBytes]
    this.#line = []
    this.#lineBytes = 0
    if (bytes > this.#command.maxMessageBytes) return
    const text = Buffer.concat(line).toString('utf8').trim()
    if (text === '') return
    const message = this.#parse(text)
    if (message === null) {
      this.#garbageLines++
      this.#garbageBytes += bytes
      return
    }
    this.#garbageBytes = 0
    this.onmessage?.(message)
  }

  #parse(text: string): JSONRPCMessage | null {
    if (isTooIntricate(text)) return null
    try {
      return JSONRPCMessageSchema.parse(parseJson(text))
    } catch {
      return null
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child
    if (child === null) throw new ToolError('unreachable', `the server has ended (${this.#ending})`)
    child.stdin.write(serializeMessage(message))
  }

  /** Ends the server: closes its stdin, then asks it to end, then ends it and all that it started. */
  async close(): Promise<void> {
    const child = this.#child
    if (child?.pid === undefined) return
    child.stdin.end()
    if (await Promise.race([this.#exited, sleep(GRACE_MS)])) return
    signalGroup(child.pid, 'SIGTERM')
    if (await Promise.race([this.#exited, sleep(GRACE_MS)])) return
    signalGroup(child.pid, 'SIGKILL')
    await this.#exited
  }
}
