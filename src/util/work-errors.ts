/** @file Why a job in a worker thread has no answer. */

import { GradusError } from './errors.ts'

/** A job without an answer. */
export class WorkError extends GradusError {
  /** Which part of the job the thread was at, as the job counts them; null where that is not known. */
  readonly part: number | null

  constructor(message: string, part: number | null = null) {
    super(message)
    this.part = part
  }
}

/** It ran over its budget, and its thread was ended. */
export class WorkTimeout extends WorkError {}

/** Its thread died of it: out of memory, an unhandled rejection, an exit. */
export class WorkCrashed extends WorkError {}

/** No thread could be started: this says nothing about the job. */
export class WorkUnstarted extends WorkError {}

/** It threw; its thread lives. */
export class WorkFailed extends WorkError {}

/** It was not taken: too many wait already, or the pool is closed. */
export class WorkRefused extends WorkError {}
