/** @file Who may ask the dashboard for something, and what its page may do. Foreign pages are refused before it (`http/pages.ts`). */

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

/** Says no to a request, or null. */
const refuse = (
  { method, headers }: Pick<FrontRequest, 'method' | 'headers'>,
  isAllowed: (header: string | undefined) => boolean,
): FrontAnswer | null => {
  if (!isAllowed(headers.authorization)) {
    const asked = { 'www-authenticate': 'Basic realm="gradus dashboard", charset="UTF-8"' }
    return jsonAnswer(
      { error: 'a token is needed: any user name, and the token as the password' },
      401,
      asked,
    )
  }
  if (method === 'GET' || method === 'HEAD') return null
  if (!(headers['content-type'] ?? '').startsWith('application/json'))
    return jsonAnswer({ error: 'expected content-type application/json' }, 415)
  return null
}

/**
 * A handler that only answers who may ask, with headers that keep a page from doing harm.
 * @param token what readers must send; null on an address that only this machine reaches
 */
export const guardedHandler = (handler: Handler, token: string | null): Handler => {
  const isAllowed = token === null ? () => true : tokenCheck(token)
  return async request => {
    const answer = refuse(request, isAllowed) ?? (await handler(request))
    return { ...answer, headers: { ...SAFETY_HEADERS, ...answer.headers } }
  }
}
