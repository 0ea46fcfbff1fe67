/** @file One request of a tool over HTTP: status, headers and body back, within a time and a size. No redirection is followed. */

import type { Dispatcher } from 'undici'
import { ConfigError } from '../util/errors.ts'
import { wordsOfCode } from '../util/file-failure.ts'
import { describeValue } from '../util/schema.ts'
import { undici } from '../util/undici.ts'
import { ToolError } from './tool.ts'

export interface HttpRequest {
  /** Named in errors. */
  where: string
  url: URL
  method: 'GET' | 'POST'
  headers: Readonly<Record<string, string>>
  body?: string
  maxBytes: number
  signal: AbortSignal
  dispatcher: Dispatcher
}

/**
 * An address that settings name.
 * @param expected what it should be, in words
 * @param secrets where in the settings a secret belongs
 * @throws ConfigError for another text, another protocol, a user or a password
 */
export const toolAddress = (where: string, text: string, expected: string, secrets: string): URL => {
  if (!URL.canParse(text))
    throw new ConfigError(`${where}: url: expected ${expected}, got ${describeValue(text)}`)
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ConfigError(`${where}: url: expected http or https, got ${url.protocol.slice(0, -1)}`)
  if (url.username || url.password)
    throw new ConfigError(`${where}: url: expected no user or password in it, got one`, {
      hint: `name an environment variable in ${secrets}`,
    })
  return url
}

/** An answer that is longer than settings allow. @param where with what stands between it and the message */
export const tooLarge = (maxBytes: number, where = ''): ToolError =>
  new ToolError('too-large', `${where}expected an answer of at most ${maxBytes} bytes, got more`, {
    hint: 'ask for less, or raise maxAnswerBytes',
  })

export interface HttpAnswer {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: string
}

const unreachable = (where: string, error: unknown): ToolError => {
  const { code = '' } = error as NodeJS.ErrnoException
  const why = /^E[A-Z]+$/.test(code) ? wordsOfCode(code).what : code || 'the connection failed'
  return new ToolError('unreachable', `${where}: cannot be reached: ${why}`, { cause: error })
}

const readBody = async (
  { where, maxBytes }: HttpRequest,
  body: AsyncIterable<Uint8Array> & { destroy(): unknown },
): Promise<string> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) {
      body.destroy()
      throw tooLarge(maxBytes, `${where}: `)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Sends a request and reads the whole answer, whatever its status.
 * @throws ToolError `unreachable` or `too-large`, and the signal's own reason
 */
export const httpExchange = async (outgoing: HttpRequest): Promise<HttpAnswer> => {
  const { where, url, method, headers, body, signal, dispatcher } = outgoing
  try {
    const answer = await undici().request(url, {
      dispatcher,
      method,
      headers,
      signal,
      ...(body !== undefined && { body }),
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    return { status: answer.statusCode, headers: answer.headers, body: await readBody(outgoing, answer.body) }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw error instanceof ToolError ? error : unreachable(where, error)
  }
}
