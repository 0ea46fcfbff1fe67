/** @file Work that ends in time: with its result, at its deadline, or when nobody waits for it any more. */

import { ToolError } from './tool.ts'

/** Longest delay of a Node timer. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * Runs work under a signal that is aborted at the deadline and with the caller's signal. Rejects at once then, whether the work takes
 * notice or not.
 * @throws ToolError `timeout` or `cancelled`, and whatever the work throws
 */
export const withDeadline = async <T>(
  where: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const controller = new AbortController()
  const ended = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
  })
  // Work that has ended by itself leaves nobody who listens.
  ended.catch(() => {})
  const cancel = () => controller.abort(new ToolError('cancelled', `${where}: the call was not waited for`))
  const late = () =>
    controller.abort(
      new ToolError('timeout', `${where}: no answer within ${Math.round(timeoutMs)} ms`, {
        hint: 'try again, ask for less, or allow more time (timeoutMs)',
      }),
    )
  if (signal?.aborted) cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  const timer = setTimeout(late, Math.min(timeoutMs, LONGEST_MS))
  try {
    const done = controller.signal.aborted ? ended : work(controller.signal)
    done.catch(() => {})
    return await Promise.race([done, ended])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
  }
}
