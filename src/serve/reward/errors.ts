/** @file Errors of the service with the HTTP status that they become. */

import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { GradusError } from '../../util/errors.ts'

/** Kinds of errors that a client can tell apart. */
export type ServiceErrorKind =
  | 'invalid_request'
  | 'unauthorized'
  | 'not_found'
  | 'too_large'
  | 'overloaded'
  | 'response_too_long'
  | 'deadline'
  | 'judge_failed'
  | 'no_reward'
  | 'internal'

const STATUS: Record<ServiceErrorKind, ContentfulStatusCode> = {
  invalid_request: 400,
  unauthorized: 401,
  not_found: 404,
  too_large: 413,
  response_too_long: 422,
  overloaded: 429,
  internal: 500,
  judge_failed: 502,
  no_reward: 503,
  deadline: 504,
}

/** An error that a client gets as JSON: `{"error": {"type", "message"}}`. */
export class ServiceError extends GradusError {
  readonly kind: ServiceErrorKind
  /** When to come back, in seconds, for the `retry-after` header. */
  readonly retryAfterS?: number

  constructor(
    kind: ServiceErrorKind,
    message: string,
    options: { hint?: string; cause?: unknown; retryAfterS?: number } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.retryAfterS = options.retryAfterS
  }

  get status(): ContentfulStatusCode {
    return STATUS[this.kind]
  }
}

/** For `parseWith`: a body that does not have the shape of its route. */
export class InvalidRequest extends ServiceError {
  constructor(message: string) {
    super('invalid_request', message)
  }
}
