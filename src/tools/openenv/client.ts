/** @file A client of OpenEnv servers: sessions over WebSocket, one environment each; what the server says of itself over HTTP. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from 'undici'
import { wordsOfCode } from '../../util/file-failure.ts'
import { parseWith } from '../../util/schema.ts'
import { undici } from '../../util/undici.ts'
import { withDeadline } from '../deadline.ts'
import { httpExchange } from '../http-exchange.ts'
import { Secrets, type ProcessEnv as Variables } from '../secrets.ts'
import { ToolError } from '../tool.ts'
import {
  type EnvironmentSchemas,
  MalformedError,
  readAnswerJson,
  type StepResult,
  schemasSchema,
} from './messages.ts'
import { OpenEnvSession } from './session.ts'
import type { OpenEnvSettings } from './settings.ts'

export interface OpenEnvRuntime {
  env?: Variables
  /** First wait before another attempt, doubled each time. Default 250. */
  retryMs?: number
}

const LONGEST_WAIT_MS = 5_000

/** Failures after which nothing has been done yet, so that another attempt is safe. */
const passes = (error: unknown): boolean =>
  error instanceof ToolError && (error.kind === 'unreachable' || error.kind === 'timeout' || isFull(error))

const isFull = (error: ToolError): boolean => error.message.includes('CAPACITY_REACHED')

export class OpenEnvClient {
  readonly #settings: OpenEnvSettings
  readonly #agent: Agent
  readonly #headers: Record<string, string>
  readonly #secrets: Secrets
  readonly #retryMs: number

  /** @throws ConfigError for a variable of the environment that is not set */
  constructor(settings: OpenEnvSettings, { env = process.env, retryMs = 250 }: OpenEnvRuntime = {}) {
    this.#settings = settings
    this.#secrets = new Secrets(env)
    this.#headers = this.#secrets.headers(settings.headers, 'headers')
    this.#retryMs = retryMs
    this.#agent = new (undici().Agent)({
      connect: { timeout: settings.connectTimeoutMs },
      // A bound on memory: what is a little too large is taken, so that it can be said.
      webSocket: { maxPayloadSize: 4 * settings.maxMessageBytes },
    })
  }

  /**
   * A session with an environment of its own, reset. Tried again while nothing is there, or no place is free.
   * @param reset what the environment takes: `seed`, `episode_id`, and its own
   * @throws ToolError
   */
  async start(
    reset: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<{ session: OpenEnvSession; first: StepResult }> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#startOnce(reset, signal)
      } catch (error) {
        if (!passes(error) || attempt >= this.#settings.attempts || signal?.aborted) throw this.#named(error)
        const waitMs = Math.min(LONGEST_WAIT_MS, this.#retryMs * 2 ** (attempt - 1))
        // The attempt after a wait that was ended says that nobody waits any more.
        await sleep(waitMs, undefined, { signal }).catch(() => {})
      }
    }
  }

  async #startOnce(reset: Readonly<Record<string, unknown>>, signal?: AbortSignal) {
    const session = await this.#connect(signal)
    try {
      return { session, first: await session.reset(reset, signal) }
    } catch (error) {
      session.close()
      throw error
    }
  }

  /** Too few places are the server's setting, and one message away from being seen. */
  #named(error: unknown): unknown {
    return error instanceof ToolError && isFull(error)
      ? new ToolError('refused', `${this.#settings.url}: no session is free: ${error.message}`, {
          hint: 'let the server have as many sessions as rollouts are under way (max_concurrent_envs), or sample fewer',
          cause: error,
        })
      : error
  }

  async #connect(signal?: AbortSignal): Promise<OpenEnvSession> {
    const { url, connectTimeoutMs, timeoutMs, maxMessageBytes } = this.#settings
    const address = new URL('ws', url.replace(/\/*$/, '/').replace(/^http/, 'ws'))
    return withDeadline(url, connectTimeoutMs, signal, own => {
      const socket = new (undici().WebSocket)(address.href, {
        dispatcher: this.#agent,
        headers: this.#headers,
      })
      own.addEventListener('abort', () => socket.close(), { once: true })
      return new Promise((resolve, reject) => {
        socket.addEventListener('open', () =>
          resolve(new OpenEnvSession(socket, { url, timeoutMs, maxMessageBytes, secrets: this.#secrets })),
        )
        socket.addEventListener('error', event => reject(unreachable(url, event.error)))
        socket.addEventListener('close', () => reject(unreachable(url, undefined)))
      })
    })
  }

  /** The JSON Schemas of the environment. @throws ToolError */
  async schemas(signal?: AbortSignal): Promise<EnvironmentSchemas> {
    const body = await this.#get('schema', signal)
    return parseWith(schemasSchema, body, `${this.#settings.url}: schema`, MalformedError)
  }

  /** Whether the server says that it is well. @throws ToolError where it says nothing */
  async healthy(signal?: AbortSignal): Promise<boolean> {
    const body = await this.#get('health', signal)
    return typeof body === 'object' && body !== null && 'status' in body && body.status === 'healthy'
  }

  async #get(path: string, signal?: AbortSignal): Promise<unknown> {
    const { url, timeoutMs, maxMessageBytes } = this.#settings
    const address = new URL(path, url.replace(/\/*$/, '/').replace(/^ws/, 'http'))
    const answer = await withDeadline(url, timeoutMs, signal, own =>
      httpExchange({
        ...{ where: url, url: address, method: 'GET', headers: this.#headers },
        ...{ maxBytes: maxMessageBytes, signal: own, dispatcher: this.#agent },
      }),
    )
    if (answer.status !== 200)
      throw new ToolError('refused', `${url}: ${path}: expected status 200, got ${answer.status}`, {
        hint: 'check the address: it is that of an OpenEnv server',
      })
    return readAnswerJson(answer.body, url, this.#secrets)
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }
}

const unreachable = (url: string, error: unknown): ToolError => {
  const code = codeOf(error)
  const why = code === undefined ? 'the connection failed' : wordsOfCode(code).what
  return new ToolError('unreachable', `${url}: cannot be reached: ${why}`, {
    hint: 'check the address, and that the OpenEnv server is running',
    ...(error !== undefined && { cause: error }),
  })
}

/** The system's code, however deep it lies. */
const codeOf = (error: unknown): string | undefined => {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const { code } = at as NodeJS.ErrnoException
    if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return code
  }
  return undefined
}
