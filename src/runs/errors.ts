/** @file Errors of the run folder, and the one place that turns a failed write into advice. */

import { GradusError } from '../util/errors.ts'

/** A run folder that cannot be made, opened, locked, written or resumed. */
export class RunError extends GradusError {}

const WRITE_FAILURES: Record<string, { what: string; hint: string }> = {
  ENOSPC: { what: 'the disk is full', hint: 'free some space, then go on with --resume' },
  EDQUOT: { what: 'the disk quota is used up', hint: 'free some space, then go on with --resume' },
  EFBIG: {
    what: 'the file is larger than this system allows',
    hint: 'raise the limit, then go on with --resume',
  },
  EROFS: { what: 'the file system is read-only', hint: 'choose another folder' },
  EACCES: { what: 'permission was refused', hint: 'check who owns the folder' },
  EPERM: { what: 'permission was refused', hint: 'check who owns the folder' },
}

/** A RunError that says what a failed write means; errors that are not from the system come back as they are. */
export const writeFailure = (path: string, error: unknown): Error => {
  if (error instanceof GradusError) return error
  const code = (error as NodeJS.ErrnoException).code
  if (code === undefined) return error as Error
  const known = WRITE_FAILURES[code]
  const what = known?.what ?? (error as Error).message
  return new RunError(`${path}: could not be written: ${what} (${code}); what was written before is intact`, {
    hint: known?.hint,
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
