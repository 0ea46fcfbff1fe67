/** @file Requests to a tracker's server: JSON out, JSON back, within a time and a size, failures distinguished by whether they pass. */

import { tryJson } from '../../util/json.ts'
import { type TrackerEnv, TrackerError } from './tracker.ts'

const MOST_BYTES = 8 << 20
const MOST_WORDS = 300
const LONGEST_WAIT_MS = 60_000

export interface TrackerConnection {
  /** Without a slash at its end. */
  url: string
  headers: Readonly<Record<string, string>>
  /** What must not be shown where a server repeats it. */
  secrets: readonly string[]
  /** Of one request. */
  timeoutMs: number
  /** Ends all requests. */
  signal?: AbortSignal
}

/** Where the address of a tracker's server comes from. */
interface ServerAddress {
  kind: string
  /** Of the configuration; null: the environment's. */
  uri: string | null
  /** Environment variable. */
  variable: string
  env: TrackerEnv
  /** How to give what must not stand in an address. */
  credentials: string
}

/**
 * The address of a server as it is asked and told.
 * @throws TrackerError for none, for what is no http address, and for one with a password in it
 */
export const serverUrl = ({ kind, uri, variable, env, credentials }: ServerAddress): string => {
  const text = uri ?? env[variable]
  if (!text)
    throw new TrackerError(`${kind}: expected the address of a server, got none`, {
      hint: `give it as uri, or in the environment as ${variable}`,
      lasting: true,
    })
  return checkedUrl(text, uri === null ? variable : `${kind} uri`, credentials)
}

const checkedUrl = (text: string, name: string, credentials: string): string => {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    // What stands before an @ may be a password.
    const shown = text.includes('@') ? 'another text' : text
    throw new TrackerError(`${name}: expected an address such as http://localhost:5000, got ${shown}`, {
      lasting: true,
    })
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TrackerError(`${name}: expected an http or https address, got one of ${url.protocol}`, {
      hint: 'a store of files or a database has a server in front of it: start that and give its address',
      lasting: true,
    })
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new TrackerError(
      `${name}: expected an address alone, got one with a name, a password or a query in it`,
      {
        hint: `addresses are kept in the run's folder and secrets never are: ${credentials}`,
        lasting: true,
      },
    )
  return url.href.replace(/\/+$/, '')
}

const networkError = (url: string, timeoutMs: number, error: unknown): TrackerError => {
  const { name, cause } = error as Error & { cause?: NodeJS.ErrnoException }
  if (name === 'TimeoutError')
    return new TrackerError(`${url}: no complete answer within ${timeoutMs / 1000} s`, { cause: error })
  const code = cause?.code ?? name
  return new TrackerError(`${url}: the connection failed (${code})`, {
    cause: error,
    lasting: /CERT|TLS|SSL|SELF_SIGNED/.test(code),
  })
}

const readBody = async (response: Response, url: string): Promise<string> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MOST_BYTES)
      throw new TrackerError(`${url}: the answer is larger than ${MOST_BYTES} bytes`, { lasting: true })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const waitOf = (header: string | null): number | undefined => {
  const seconds = Number(header ?? Number.NaN)
  return seconds >= 0 ? Math.min(seconds * 1000, LONGEST_WAIT_MS) : undefined
}

/** An answer with its status; `json` is null where the body is none. */
export interface TrackerResponse {
  status: number
  json: unknown
  text: string
}

/**
 * Sends a request and reads the answer, whatever its status; redirections are not followed, because they would carry the token.
 * @throws TrackerError where there is no answer
 */
export const askTracker = async (
  { url: base, headers, timeoutMs, signal }: TrackerConnection,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<TrackerResponse & { retryAfterMs?: number }> => {
  const url = `${base}${path}`
  const signals = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]
  try {
    const response = await fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.any(signals),
    })
    const text = await readBody(response, base)
    return {
      status: response.status,
      json: tryJson(text) ?? null,
      text,
      retryAfterMs: waitOf(response.headers.get('retry-after')),
    }
  } catch (error) {
    throw error instanceof TrackerError ? error : networkError(base, timeoutMs, error)
  }
}

const PASSING = new Set([408, 425, 429])

/** What an answer that is no success means. @param where in words @param words of the server, if it gave any: a text */
export const refusal = (
  { secrets }: TrackerConnection,
  where: string,
  { status, text, retryAfterMs }: TrackerResponse & { retryAfterMs?: number },
  words?: unknown,
  hint?: string,
): TrackerError => {
  const given = typeof words === 'string' ? words : text
  const clean = secrets.reduce((all, secret) => all.replaceAll(secret, '***'), given)
  const said = clean.replace(/\s+/g, ' ').trim().slice(0, MOST_WORDS)
  return new TrackerError(`${where}: status ${status}${said === '' ? '' : `: ${said}`}`, {
    hint,
    lasting: status < 500 && !PASSING.has(status),
    retryAfterMs,
  })
}
