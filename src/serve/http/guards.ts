/** @file Keeps a server going: what nobody caught is said and counted, and ends nothing. */

/** What was thrown and where nobody caught it. */
export type Unhandled = (kind: 'exception' | 'rejection', error: unknown) => void

/**
 * From now on neither an exception that no one caught nor a rejection that no one handled ends this thread.
 * @returns puts back what was before
 */
export const keepGoing = (onUnhandled: Unhandled): (() => void) => {
  const onException = (error: unknown) => onUnhandled('exception', error)
  const onRejection = (error: unknown) => onUnhandled('rejection', error)
  // Whoever read the log may be gone: to say so there would be the next error.
  const ignore = () => {}
  process.stderr.on('error', ignore)
  process.on('uncaughtException', onException)
  process.on('unhandledRejection', onRejection)
  return () => {
    process.stderr.off('error', ignore)
    process.off('uncaughtException', onException)
    process.off('unhandledRejection', onRejection)
  }
}

/** An error, or what another thread told of one, as fields of a log line. */
export const errorFields = (error: unknown): Record<string, unknown> =>
  typeof error === 'object' && error !== null && 'message' in error
    ? { message: String(error.message), ...('stack' in error && { stack: String(error.stack) }) }
    : { message: String(error) }
