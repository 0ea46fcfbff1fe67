/** @file The token that clients must send, compared in constant time. */

import { createHash, timingSafeEqual } from 'node:crypto'
import { ConfigError } from '../../util/errors.ts'
import { isLoopback } from '../http/pages.ts'

/** Whether what was sent is the secret. Digests are compared, so that neither length nor content shows in the time it takes. */
export const sameSecret = (sent: string | null | undefined, secret: string): boolean => {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(sent ?? ''), digest(secret))
}

/** Token of an `authorization` header: `Bearer TOKEN`, or the password of `Basic`, which is how a client that knows only a URL sends one. */
const tokenOf = (header: string): string | null => {
  const [, scheme, value] = /^(\w+) +(\S+)$/.exec(header.trim()) ?? []
  if (scheme?.toLowerCase() === 'bearer') return value
  if (scheme?.toLowerCase() !== 'basic') return null
  const pair = Buffer.from(value, 'base64').toString('utf8')
  const at = pair.indexOf(':')
  return at < 0 ? null : pair.slice(at + 1)
}

/** A check of `authorization` headers. */
export const tokenCheck =
  (token: string) =>
  (header: string | undefined): boolean =>
    sameSecret(tokenOf(header ?? ''), token)

/**
 * The token of the service, or null for none.
 * @throws ConfigError for a variable that is empty, and for an address that others can reach without a token.
 */
export const serviceToken = (
  { host, tokenEnv, openToAnyone }: { host: string; tokenEnv?: string; openToAnyone: boolean },
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | null => {
  if (tokenEnv !== undefined) {
    const token = env[tokenEnv] ?? ''
    if (token !== '') return token
    throw new ConfigError(`server.tokenEnv: the environment variable ${tokenEnv} is empty or not set`, {
      hint: 'put the token there',
    })
  }
  if (isLoopback(host) || openToAnyone) return null
  throw new ConfigError(`server.host: ${host} can be reached from other machines, and there is no token`, {
    hint: 'name the variable of a token in server.tokenEnv, or say server.openToAnyone: true',
  })
}
