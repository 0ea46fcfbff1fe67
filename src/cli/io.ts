/** @file Where a command writes, how it ends, and how it speaks of failures. */

import type { ProgressStream } from '../runs/progress.ts'
import { GradusError, UsageError } from '../util/errors.ts'
import { systemErrorText } from '../util/file-failure.ts'
import { visible } from '../util/format.ts'
import { asMemoryError } from '../util/memory-failure.ts'

/** Ctrl+C: the reason that a signal gives to what it ends, such as the fetch of a model. */
export class Interrupted extends GradusError {
  constructor() {
    super('interrupted')
  }
}

/** Results go to `out`; progress, advice and errors to `err`. */
export interface Io {
  out: { write(text: string): unknown }
  err: ProgressStream
  /** Calls `handler` at Ctrl+C, a polite kill, or when the terminal is gone; returns the function that stops listening. */
  onInterrupt(handler: () => void): () => void
}

/**
 * - `failed`: an error, also a configuration file that cannot be used
 * - `usage`: the command line itself is wrong, unknown `--set` keys included
 * - `belowThreshold`: all went well, but a metric is below what `--min-...` asked for, or a monitor stopped the training
 * - `interrupted`: stopped by Ctrl+C
 */
export const EXIT = { ok: 0, failed: 1, usage: 2, belowThreshold: 100, interrupted: 130 } as const

export const processIo: Io = {
  out: process.stdout,
  err: process.stderr,
  onInterrupt: handler => {
    let asked = false
    const ask = () => {
      asked = true
      handler()
    }
    // A terminal that closes hangs up more than once (the system, then the shell): never the second Ctrl+C, which quits at once.
    const hangUp = () => {
      if (!asked) ask()
    }
    const listeners = { SIGINT: ask, SIGTERM: ask, SIGHUP: hangUp }
    for (const [signal, listener] of Object.entries(listeners)) process.on(signal, listener)
    return () => {
      for (const [signal, listener] of Object.entries(listeners)) process.off(signal, listener)
    }
  },
}

/** What a progress line begins with: it may rewrite itself, and nothing else. */
const REDRAW = '\r\x1b[2K'

const forTerminal = (text: string): string =>
  text.startsWith(REDRAW) ? `${REDRAW}${visible(text.slice(REDRAW.length))}` : visible(text)

/** Writes that reach a terminal with control characters of files written out: always on `err`, on `out` where it is one. */
export const guardedIo = (io: Io): Io => {
  const { out, err } = io
  const isTerminal = (out as { isTTY?: boolean }).isTTY === true
  return {
    ...io,
    out: isTerminal ? { write: text => out.write(visible(text)) } : out,
    err: {
      ...(err.isTTY !== undefined && { isTTY: err.isTTY }),
      get columns() {
        return err.columns
      },
      write: text => err.write(forTerminal(text)),
    },
  }
}

/** One clean message; the stack only with GRADUS_DEBUG=1, or for errors that nobody foresaw a pointer to it. */
export const describeError = (thrown: unknown): string => {
  const error = asMemoryError(thrown)
  if (!(error instanceof Error)) return String(error)
  if (process.env.GRADUS_DEBUG === '1') return error.stack ?? error.message
  if (error instanceof GradusError) return error.message
  return systemErrorText(error) ?? `${error.message}\n(GRADUS_DEBUG=1 shows where this came from)`
}

export const exitCodeOf = (error: unknown): number => (error instanceof UsageError ? EXIT.usage : EXIT.failed)

/** Prints a value as one JSON line. */
export const printJson = (io: Io, value: unknown): void => {
  io.out.write(`${JSON.stringify(value)}\n`)
}
