/** @file A server that is asked: its address, the key for it, and the connections to it. */

import type { Dispatcher } from 'undici'
import type { z } from 'zod'
import { ConfigError, type JudgeError } from '../util/errors.ts'
import { describeSecret } from '../util/secret-words.ts'
import { undici } from '../util/undici.ts'
import { type Clock, systemClock } from './clock.ts'
import { readKey } from './credentials.ts'
import { exchange, type Incoming, type Outgoing } from './exchange.ts'
import type { openAiSchema } from './openai-config.ts'

export interface OpenAiRuntime {
  clock?: Clock
  /** In place of our own connections: a proxy agent of undici, for example. The caller closes it. */
  dispatcher?: Dispatcher
  env?: Readonly<Record<string, string | undefined>>
  /** Called with what a person should know. Default: a process warning. */
  onWarning?: (message: string) => void
}

/** What settings say of a server beside its address. */
type ServerSettings = Pick<
  z.output<typeof openAiSchema>,
  'apiKeyEnv' | 'headers' | 'apiKeyHeader' | 'connections'
>

/** A warning for a person where nobody listens for it. */
export const processWarning = (message: string): void => process.emitWarning(message, 'GradusWarning')

/** Where a path of the API (`/chat/completions`) lies on the server that a setting names. @throws ConfigError */
export const endpointUrl = (text: string, api = '/chat/completions', what = 'judge url'): URL => {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    // What stands before an @ may be a password.
    const shown = text.includes('@') ? 'another text' : (describeSecret(text) ?? text)
    throw new ConfigError(`${what}: expected an address such as http://127.0.0.1:8000/v1, got ${shown}`)
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ConfigError(`${what}: expected http or https, got ${url.protocol.slice(0, -1)}`)
  if (url.username || url.password)
    throw new ConfigError(`${what}: expected no user or password in it, got one`, {
      hint: 'put the key into an environment variable and name it in apiKeyEnv',
    })
  const path = url.pathname.replace(/\/+$/, '')
  if (path === '') url.pathname = `/v1${api}`
  else if (!path.endsWith(api)) url.pathname = `${path}${api}`
  return url
}

/** Headers of a request, with the key where there is one. */
export const requestHeaders = (
  { headers, apiKeyHeader }: Pick<ServerSettings, 'headers' | 'apiKeyHeader'>,
  key: string | undefined,
): Record<string, string> => ({
  'content-type': 'application/json',
  accept: 'application/json',
  ...headers,
  ...(key !== undefined && {
    [apiKeyHeader]: apiKeyHeader.toLowerCase() === 'authorization' ? `Bearer ${key}` : key,
  }),
})

/** Requests to one address, with the key for it where there is one. */
export class EndpointConnection {
  readonly origin: string
  readonly key: string | undefined
  readonly clock: Clock
  readonly #path: string
  readonly #headers: Record<string, string>
  readonly #dispatcher: Dispatcher
  readonly #ownsDispatcher: boolean

  /** @throws ConfigError for a key that is not in the environment */
  constructor({ origin, pathname, search }: URL, settings: ServerSettings, runtime: OpenAiRuntime) {
    const { clock = systemClock, dispatcher, env = process.env } = runtime
    this.origin = origin
    this.key = readKey(settings, env)
    this.clock = clock
    this.#path = pathname + search
    this.#headers = requestHeaders(settings, this.key)
    this.#ownsDispatcher = dispatcher === undefined
    this.#dispatcher =
      dispatcher ?? new (undici().Pool)(origin, { connections: settings.connections, pipelining: 1 })
  }

  /** @throws JudgeError as `exchange` does */
  post(sent: Pick<Outgoing, 'body' | 'timeoutMs' | 'maxBytes' | 'cancellation'>): Promise<Incoming> {
    const { origin, clock } = this
    return exchange(this.#dispatcher, { origin, path: this.#path, headers: this.#headers, ...sent }, clock)
  }

  /** Ends its own connections; calls in progress fail for that reason. */
  async close(reason: JudgeError): Promise<void> {
    if (this.#ownsDispatcher) await this.#dispatcher.destroy(reason)
  }
}
