/** @file What the training service refuses, with the status that clients of the protocol act on, and whose fault a failure is. */

import {
  CheckpointError,
  ConfigError,
  DataError,
  GradusError,
  ShapeError,
  UsageError,
} from '../../util/errors.ts'
import { describeFailure, passesWithRoom } from '../../util/file-failure.ts'

/** A request that is not taken: its status and what is said. */
export class RequestError extends GradusError {
  readonly status: 400 | 401 | 404 | 409 | 410 | 413 | 415 | 422 | 429 | 503

  constructor(status: RequestError['status'], message: string, options: { hint?: string } = {}) {
    super(message, options)
    this.status = status
  }
}

/** Of a request that was taken and failed: what the client sent, or something here. */
type FailureCategory = 'user' | 'server' | 'unknown'

export interface Failure {
  error: string
  category: FailureCategory
}

const BY_USER = [RequestError, CheckpointError, ConfigError, DataError, ShapeError, UsageError]

/** Whether it is the disk here that is full; the engine, in a thread of its own, gives the code as text alone. */
const isFullDisk = (thrown: unknown): boolean => {
  const [, code = ''] = /\((E[A-Z0-9]+)\)/.exec(thrown instanceof GradusError ? thrown.message : '') ?? []
  return passesWithRoom(code)
}

/** Longest message that a client is told: it may quote what was sent. */
const LONGEST_MESSAGE = 4_000

export const shortMessage = (message: string): string => message.slice(0, LONGEST_MESSAGE)

/** Errors that this house words, and failures of files, are told; of others only that they were. */
export const failureOf = (thrown: unknown): Failure => {
  const failure = wordsOf(thrown)
  return { ...failure, error: shortMessage(failure.error) }
}

const wordsOf = (thrown: unknown): Failure => {
  if (isFullDisk(thrown)) return { error: (thrown as Error).message, category: 'server' }
  if (BY_USER.some(kind => thrown instanceof kind))
    return { error: (thrown as Error).message, category: 'user' }
  if (thrown instanceof GradusError) return { error: thrown.message, category: 'server' }
  const words = describeFailure(thrown)
  if (words) return { error: `a file of the server: ${words.what}; ${words.hint}`, category: 'server' }
  return { error: 'the server failed on this request; its log says more', category: 'unknown' }
}
