/**
 * @file Which web pages may ask something of a server here. A browser sends what any page wants to any address, this machine's
 * own included: a page of another origin may change nothing, and none may read by a name that was bent to this machine.
 */

import type { IncomingHttpHeaders } from 'node:http'
import type { Refusal } from './exchange.ts'

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i

/** Whether a name or address is this machine's alone. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

/** Host without its port. */
const nameOf = (host: string): string => host.replace(/:\d+$/, '')

/** Whether a request comes from a page that is not this server's own. Programs say nothing of a page. */
const isForeign = ({ origin, host = '', 'sec-fetch-site': site }: IncomingHttpHeaders): boolean => {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  if (origin === undefined) return false
  try {
    return new URL(origin).host !== host.toLowerCase()
  } catch {
    return true
  }
}

const refusal = (status: Refusal['status'], reason: string, message: string): Refusal => ({
  kind: 'foreign',
  ...{ status, reason, message },
})

/**
 * Says no to a request, or null.
 * @param isPrivate whether the server listens to this machine alone, and whoever reaches it may ask: then its name must be ours
 */
export const pageRefusal = (
  { method, headers }: { method?: string; headers: IncomingHttpHeaders },
  isPrivate: boolean,
): Refusal | null => {
  const name = nameOf(headers.host ?? '')
  if (isPrivate && !isLoopback(name))
    return refusal(
      421,
      'host',
      `this server is at localhost and 127.0.0.1, not at ${name.slice(0, 80)}; to be reached by other names it needs a key or token`,
    )
  if (method === 'GET' || method === 'HEAD' || !isForeign(headers)) return null
  return refusal(403, 'origin', 'a page of another origin may not ask this; send no Origin from a program')
}
