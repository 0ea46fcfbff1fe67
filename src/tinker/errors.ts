/** @file What a training service refused or failed at, in kinds that say whether waiting helps, and what to do. */

import { GradusError } from '../util/errors.ts'

/**
 * `auth`, `billing`: the key or the account. `missing`: the server knows no such model, session, checkpoint or future: it was
 * restarted without its state, or the session has ended. `refused`: it would not take the request. `failed`: it took it and failed.
 * `conflict`: the same request was there already. `unreachable`, `busy`: it could not be had for as long as the client waits.
 * `malformed`: an answer that is none. `unsure`: the connection ended before the answer, and the server would carry out the
 * same request twice.
 */
export type TinkerErrorKind =
  | 'auth'
  | 'billing'
  | 'missing'
  | 'refused'
  | 'failed'
  | 'conflict'
  | 'unreachable'
  | 'busy'
  | 'malformed'
  | 'unsure'

export class TinkerError extends GradusError {
  readonly kind: TinkerErrorKind
  /** HTTP status, where there was one. */
  readonly status?: number

  constructor(
    kind: TinkerErrorKind,
    message: string,
    options: { hint?: string; cause?: unknown; status?: number } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.status = options.status
  }
}

const RESUME = 'go on from the last checkpoint with `gradus train ... --resume`'

const BY_STATUS: Readonly<Record<number, [TinkerErrorKind, string]>> = {
  401: ['auth', 'set the environment variable that policy.apiKeyEnv names to a valid key'],
  402: ['billing', `the account has no credit left: add some, and ${RESUME}`],
  403: ['auth', 'the key may not do this: check it, and what the account may use'],
  404: ['missing', `check url and model; a server that was restarted has lost its models: ${RESUME}`],
  409: ['conflict', 'another client may be using the same model'],
  410: ['missing', `the service has dropped it: ${RESUME}`],
}

export const HINTS = { resume: RESUME }

/** The error of an answer that no waiting mends. */
export const statusFailure = (place: string, status: number, said: string): TinkerError => {
  const [kind, hint] = BY_STATUS[status] ?? ['refused', 'change what it complains about']
  return new TinkerError(kind, `${place}: status ${status}${said === '' ? '' : `: ${said}`}`, {
    hint,
    status,
  })
}
