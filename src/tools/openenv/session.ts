/** @file One session with an OpenEnv server: an environment of its own, asked one thing after the other. */

import type { WebSocket } from 'undici'
import { withDeadline } from '../deadline.ts'
import type { Secrets } from '../secrets.ts'
import { ToolError } from '../tool.ts'
import { type OpenEnvAnswer, type OpenEnvRequest, readOpenEnvAnswer, type StepResult } from './messages.ts'

export interface OpenEnvSessionOptions {
  /** Named in errors. */
  url: string
  timeoutMs: number
  maxMessageBytes: number
  secrets: Secrets
}

/** Codes of the server that say something of the action, and not of the server. */
export const REFUSED_ACTION = 'VALIDATION_ERROR'

/** The server's own word that something went wrong. */
export class OpenEnvError extends ToolError {
  /** As the protocol names it: `VALIDATION_ERROR`, `EXECUTION_ERROR`, `CAPACITY_REACHED`, ... */
  readonly code: string

  constructor(code: string, message: string) {
    super(code === REFUSED_ACTION ? 'arguments' : 'failed', message)
    this.code = code
  }
}

/** Most characters of what a server says of a failure: it goes into the run's rows. */
const MOST_SAID = 500

interface Waiting {
  resolve(answer: OpenEnvAnswer): void
  reject(error: unknown): void
}

export class OpenEnvSession {
  readonly #socket: WebSocket
  readonly #options: OpenEnvSessionOptions
  #waiting: Waiting | null = null
  /** Why nothing can be asked any more. */
  #ended: unknown = null

  constructor(socket: WebSocket, options: OpenEnvSessionOptions) {
    this.#socket = socket
    this.#options = options
    socket.addEventListener('message', ({ data }) => this.#take(data))
    socket.addEventListener('error', ({ error }) => this.#end(this.#broken(error)))
    socket.addEventListener('close', () => this.#end(this.#broken(undefined)))
  }

  /** Begins an episode. @throws ToolError */
  async reset(data: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<StepResult> {
    return this.#result(await this.#ask({ type: 'reset', data }, signal))
  }

  /**
   * Acts. It is not repeated where no answer came: the environment may have acted.
   * @throws OpenEnvError where the server refuses the action or fails at it; ToolError
   */
  async step(action: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<StepResult> {
    return this.#result(await this.#ask({ type: 'step', data: action }, signal))
  }

  /** What the environment says of itself: `episode_id`, `step_count`, and its own. @throws ToolError */
  async state(signal?: AbortSignal): Promise<Record<string, unknown>> {
    const answer = await this.#ask({ type: 'state' }, signal)
    if (answer.type === 'state') return answer.data
    throw this.#other('a state', answer)
  }

  /** Lets the server let go of the environment. */
  close(): void {
    if (this.#ended === null && this.#socket.readyState === this.#socket.OPEN)
      this.#socket.send(JSON.stringify({ type: 'close' } satisfies OpenEnvRequest))
    this.#end(new ToolError('cancelled', `${this.#options.url}: the session was closed`))
  }

  #result(answer: OpenEnvAnswer): StepResult {
    if (answer.type !== 'observation') throw this.#other('an observation', answer)
    const { reward } = answer.data
    if (reward !== null && !Number.isFinite(reward)) {
      this.close()
      throw new ToolError(
        'malformed',
        `${this.#options.url}: reward: expected a finite number, got ${reward}`,
      )
    }
    return answer.data
  }

  #other(expected: string, answer: OpenEnvAnswer): ToolError {
    const { url } = this.#options
    if (answer.type === 'error')
      return new OpenEnvError(
        answer.data.code,
        `${url}: ${shortened(answer.data.message)} (${shortened(answer.data.code)})`,
      )
    this.close()
    return new ToolError('malformed', `${url}: expected ${expected}, got a message of type ${answer.type}`)
  }

  async #ask(request: OpenEnvRequest, signal?: AbortSignal): Promise<OpenEnvAnswer> {
    const { url, timeoutMs } = this.#options
    if (this.#ended !== null) throw this.#ended
    if (this.#waiting !== null)
      throw new ToolError('failed', `${url}: a session answers one request after the other`)
    try {
      return await withDeadline(url, timeoutMs, signal, () => {
        const answer = new Promise<OpenEnvAnswer>((resolve, reject) => {
          this.#waiting = { resolve, reject }
        })
        this.#socket.send(JSON.stringify(request))
        return answer
      })
    } catch (error) {
      // An answer that comes too late would be taken for that of the next request.
      if (error instanceof ToolError && (error.kind === 'timeout' || error.kind === 'cancelled'))
        this.#end(error)
      throw error
    } finally {
      this.#waiting = null
    }
  }

  #take(data: unknown): void {
    const waiting = this.#waiting
    this.#waiting = null
    try {
      if (typeof data !== 'string')
        throw new ToolError('malformed', `${this.#options.url}: expected text, got a binary message`)
      this.#assertSize(data)
      const { url, secrets } = this.#options
      const answer = readOpenEnvAnswer(data, url, secrets)
      if (waiting) waiting.resolve(answer)
      // What nobody asked for: a server that has no place for another session says so at once.
      else this.#end(this.#other('nothing before a request', answer))
    } catch (error) {
      waiting?.reject(error)
      this.#end(error)
    }
  }

  #assertSize(data: string): void {
    const { url, maxMessageBytes } = this.#options
    if (Buffer.byteLength(data) > maxMessageBytes)
      throw new ToolError(
        'too-large',
        `${url}: expected an answer of at most ${maxMessageBytes} bytes, got ${Buffer.byteLength(data)}`,
        { hint: 'have the environment show less, or raise maxMessageBytes' },
      )
  }

  #broken(error: unknown): ToolError {
    return new ToolError('unreachable', `${this.#options.url}: the connection broke off`, {
      hint: 'see what the server says; an answer many times larger than maxMessageBytes ends it as well',
      cause: error,
    })
  }

  #end(reason: unknown): void {
    if (this.#ended === null) this.#ended = reason
    this.#waiting?.reject(this.#ended)
    this.#waiting = null
    if (this.#socket.readyState < this.#socket.CLOSING) this.#socket.close()
  }
}

const shortened = (text: string): string =>
  text.length <= MOST_SAID ? text : `${text.slice(0, MOST_SAID).replace(/[\ud800-\udbff]$/, '')}…`
