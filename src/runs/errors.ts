/** @file Errors of the run folder, and the one place that turns a failed write into advice. */

import { CheckpointError, GradusError } from '../util/errors.ts'
import { passesWithRoom, wordsOfCode } from '../util/file-failure.ts'

/** A run folder that cannot be made, opened, locked, written or resumed. */
export class RunError extends GradusError {}

/** A RunError that says what a failed write means; errors that are not from the system come back as they are. */
const writeFailure = (path: string, error: unknown): Error => {
  if (error instanceof GradusError) return error
  const code = (error as NodeJS.ErrnoException).code
  if (code === undefined) return error as Error
  const { what, hint } = wordsOfCode(code)
  return new RunError(`${path}: could not be written: ${what}; what was written before is intact`, {
    hint: passesWithRoom(code) ? goOn(hint) : hint,
    cause: error,
  })
}

const goOn = (hint: string): string => `${hint}, then go on with --resume`

/**
 * What a checkpoint that could not be saved means for its run. The policy may live in another thread or process, so that of
 * a system error its text alone may have come here.
 * @param dir of the checkpoint
 */
export const saveFailure = (dir: string, error: unknown): Error => {
  if (!(error instanceof CheckpointError)) return writeFailure(dir, error)
  const code = /\((E[A-Z0-9]+)\)/.exec(error.message)?.[1]
  if (code === undefined || !passesWithRoom(code)) return error
  const { what, hint } = wordsOfCode(code)
  return new RunError(`${dir}: could not be saved: ${what}; the checkpoints before it are intact`, {
    hint: goOn(hint),
    cause: error,
  })
}

/** Runs a write and gives its failure a clear message (see writeFailure). */
export const guardWrite = <T>(path: string, write: () => T): T => {
  try {
    return write()
  } catch (error) {
    throw writeFailure(path, error)
  }
}
