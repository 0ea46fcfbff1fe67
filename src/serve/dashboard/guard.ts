/**
 * @file Who may ask the dashboard for something. A page of another origin can neither read nor post: the name in `Host` must be
 * ours (a name that was bent to this machine is not), what is posted must come from our own page or from no page at all.
 */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { FrontAnswer, FrontRequest, Handler } from '../http/exchange.ts'
import { jsonAnswer } from '../http/exchange.ts'
import { tokenCheck } from '../reward/token.ts'

/** Nothing from elsewhere, no script or style but our own files, in nobody's frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const SAFETY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
}

const LOCAL_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Host without its port. */
const nameOf = (host: string): string => host.replace(/:\d+$/, '').toLowerCase()

const refusal = (status: number, message: string, headers: Record<string, string> = {}): FrontAnswer =>
  jsonAnswer({ error: message }, status, headers)

export interface GuardOptions {
  /** What it listens on; names of this machine are told apart from it. */
  host: string
  /** What readers must send; null on an address that only this machine reaches. */
  token: string | null
}

/** Which page a request comes from is none of ours. */
const isForeign = ({ origin, host = '', 'sec-fetch-site': site }: FrontRequest['headers']): boolean => {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  if (origin === undefined) return false
  try {
    return new URL(origin).host !== host.toLowerCase()
  } catch {
    return true
  }
}

/** Says no to a request, or null. */
export const refuse = (
  { method, headers }: Pick<FrontRequest, 'method' | 'headers'>,
  { token }: GuardOptions,
  isAllowed: (header: string | undefined) => boolean,
): FrontAnswer | null => {
  const host = headers.host ?? ''
  if (token === null && !LOCAL_NAMES.has(nameOf(host)))
    return refusal(421, `this dashboard is at 127.0.0.1 and localhost, not at ${nameOf(host).slice(0, 80)}`)
  if (!isAllowed(headers.authorization))
    return refusal(401, 'a token is needed: any user name, and the token as the password', {
      'www-authenticate': 'Basic realm="gradus dashboard", charset="UTF-8"',
    })
  if (method === 'GET' || method === 'HEAD') return null
  if (isForeign(headers)) return refusal(403, 'another page may not change anything here')
  if (!(headers['content-type'] ?? '').startsWith('application/json'))
    return refusal(415, 'expected content-type application/json')
  return null
}

/** A handler that only answers who may ask, with headers that keep a page from doing harm. */
export const guarded = (handler: Handler, options: GuardOptions): Handler => {
  const isAllowed = options.token === null ? () => true : tokenCheck(options.token)
  return async request => {
    const answer = refuse(request, options, isAllowed) ?? (await handler(request))
    return { ...answer, headers: { ...SAFETY_HEADERS, ...answer.headers } }
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Whether the token that lets somebody control runs was sent; in a time that tells nothing of it. */
export const sameSecret = (sent: string | undefined, secret: string): boolean =>
  timingSafeEqual(digest(sent ?? ''), digest(secret))
