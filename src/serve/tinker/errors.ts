/** @file What the training service refuses, with the status that clients of the protocol act on, and whose fault a failure is. */

import {
  CheckpointError,
  ConfigError,
  DataError,
  GradusError,
  ShapeError,
  UsageError,
} from '../../util/errors.ts'

/** A request that is not taken: its status and what is said. */
export class RequestError extends GradusError {
  readonly status: 400 | 401 | 404 | 409 | 410 | 413 | 415 | 422 | 429 | 503

  constructor(status: RequestError['status'], message: string, options: { hint?: string } = {}) {
    super(message, options)
    this.status = status
  }
}

/** Of a request that was taken and failed: what the client sent, or something here. */
export type FailureCategory = 'user' | 'server' | 'unknown'

export interface Failure {
  error: string
  category: FailureCategory
}

const BY_USER = [RequestError, CheckpointError, ConfigError, DataError, ShapeError, UsageError]

/** Errors that this house words are told; of others only that they were. */
export const failureOf = (thrown: unknown): Failure => {
  if (BY_USER.some(kind => thrown instanceof kind))
    return { error: (thrown as Error).message, category: 'user' }
  if (thrown instanceof GradusError) return { error: thrown.message, category: 'server' }
  return { error: 'the server failed on this request; its log says more', category: 'unknown' }
}
