/** @file Ctrl+C and SIGTERM of commands that have many calls under way: the first ends them in good order, the second quits. */

import { setMaxListeners } from 'node:events'
import { formatDuration } from '../util/format.ts'
import { EXIT, Interrupted, type Io } from './io.ts'

/**
 * Calls `first` at the first interrupt, and `again` at those after it, which quits at once where nothing else is said.
 * @returns what stops listening
 */
export const onInterrupts = (
  io: Io,
  first: () => void,
  again: () => void = () => process.exit(EXIT.interrupted),
): (() => void) => {
  let isFirst = true
  return io.onInterrupt(() => {
    if (!isFirst) return again()
    isFirst = false
    first()
  })
}

/** What runs commands for others kills them about half a minute after it asked. */
const GRACE_S = 20

export interface Interrupts {
  /** Nothing more is to be begun. */
  stop: AbortSignal
  /** What is under way is given up. */
  quit: AbortSignal
  release(): void
}

/** The first one says what happens now; what is under way then has `graceS` seconds. */
export const stopThenQuit = (io: Io, graceS = GRACE_S): Interrupts => {
  const stop = new AbortController()
  const quit = new AbortController()
  // Every call under way listens to it.
  setMaxListeners(0, quit.signal)
  let grace: ReturnType<typeof setTimeout> | undefined
  const first = () => {
    io.err.write(
      `\nfinishing what is under way, for at most ${formatDuration(graceS)}; once more (Ctrl+C or SIGTERM) quits at once\n`,
    )
    grace = setTimeout(() => quit.abort(), 1000 * graceS)
    stop.abort()
  }
  const stopListening = onInterrupts(io, first, () => quit.abort())
  const release = () => {
    stopListening()
    clearTimeout(grace)
  }
  return { stop: stop.signal, quit: quit.signal, release }
}

/** The first one ends what listens to `signal`, by `Interrupted`; the second quits. */
export const abortThenQuit = (io: Io): { signal: AbortSignal; release(): void } => {
  const stop = new AbortController()
  const release = onInterrupts(io, () => stop.abort(new Interrupted()))
  return { signal: stop.signal, release }
}

/** Work that the first Ctrl+C ends by `Interrupted`, and the second by quitting. @param close what is to be closed either way @returns the exit code */
export const untilInterrupted = async (
  io: Io,
  work: (signal: AbortSignal) => Promise<number>,
  close?: () => Promise<void> | void,
): Promise<number> => {
  const { signal, release } = abortThenQuit(io)
  try {
    return await work(signal)
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    return EXIT.interrupted
  } finally {
    await close?.()
    release()
  }
}

/**
 * Work of many calls that the first Ctrl+C gives up; the second quits. @param close what is to be closed either way
 * @returns null as the result where it was given up
 */
export const unlessInterrupted = async <T>(
  io: Io,
  work: (signal: AbortSignal) => Promise<T>,
  close?: () => Promise<void> | void,
): Promise<{ result: T | null; interrupted: boolean }> => {
  const quit = new AbortController()
  setMaxListeners(0, quit.signal)
  const stopListening = onInterrupts(io, () => quit.abort())
  try {
    const result = await work(quit.signal)
    return { result, interrupted: quit.signal.aborted }
  } catch (error) {
    if (!quit.signal.aborted) throw error
    return { result: null, interrupted: true }
  } finally {
    await close?.()
    stopListening()
  }
}

/** A measurement of many calls: half of it would say nothing. @returns the exit code */
export const measuredUntilInterrupted = async (
  io: Io,
  measure: (signal: AbortSignal) => Promise<number>,
): Promise<number> => {
  const { result } = await unlessInterrupted(io, measure)
  if (result !== null) return result
  io.err.write('interrupted: nothing was measured\n')
  return EXIT.interrupted
}

/** Resolves at the first interrupt; the second one quits at once. */
export const firstInterrupt = (io: Io): Promise<void> =>
  new Promise(resolve => {
    onInterrupts(io, resolve)
  })
