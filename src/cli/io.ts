/** @file Where a command writes, how it ends, and how it speaks of failures. */

import type { ProgressStream } from '../runs/progress.ts'
import { GradusError, UsageError } from '../util/errors.ts'

/** Results go to `out`; progress, advice and errors to `err`. */
export interface Io {
  out: { write(text: string): unknown }
  err: ProgressStream
  /** Calls `handler` at Ctrl+C or a polite kill; returns the function that stops listening. */
  onInterrupt(handler: () => void): () => void
}

/**
 * - `failed`: an error, also a configuration file that cannot be used
 * - `usage`: the command line itself is wrong, unknown `--set` keys included
 * - `belowThreshold`: all went well, but a figure is below what `--min-...` asked for
 * - `interrupted`: stopped by Ctrl+C
 */
export const EXIT = { ok: 0, failed: 1, usage: 2, belowThreshold: 100, interrupted: 130 } as const

export const processIo: Io = {
  out: process.stdout,
  err: process.stderr,
  onInterrupt: handler => {
    process.on('SIGINT', handler)
    process.on('SIGTERM', handler)
    return () => {
      process.off('SIGINT', handler)
      process.off('SIGTERM', handler)
    }
  },
}

/** One clean message; the stack only with GRADUS_DEBUG=1, or for errors that nobody foresaw a pointer to it. */
export const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (process.env.GRADUS_DEBUG === '1') return error.stack ?? error.message
  const foreseen = error instanceof GradusError || 'code' in error
  return foreseen ? error.message : `${error.message}\n(GRADUS_DEBUG=1 shows where this came from)`
}

export const exitCodeOf = (error: unknown): number => (error instanceof UsageError ? EXIT.usage : EXIT.failed)

/** Prints a value as one JSON line. */
export const printJson = (io: Io, value: unknown): void => {
  io.out.write(`${JSON.stringify(value)}\n`)
}
