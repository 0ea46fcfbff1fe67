/** @file Answers for those who watch a server, at once: the newest there is, or the last one while a new one is awaited. */

import type { FrontAnswer, Handler } from './exchange.ts'

/** An answer that takes longer is not waited for. */
const PATIENCE_MS = 25

const sleep = (ms: number) => new Promise<null>(resolve => setTimeout(() => resolve(null), ms))

/**
 * Asks `handler`, and answers with what it said last where it takes more than a moment; `without` before it has said anything.
 * @param maxAgeMs an older answer counts as none
 */
export const promptly = (
  handler: Handler,
  without: () => FrontAnswer,
  { maxAgeMs = 60_000, patienceMs = PATIENCE_MS } = {},
): Handler => {
  let last: { answer: FrontAnswer; atMs: number } | null = null
  let asking: Promise<FrontAnswer> | null = null
  return async request => {
    asking ??= handler({ ...request, signal: new AbortController().signal })
      .then(answer => {
        last = { answer, atMs: performance.now() }
        return answer
      })
      .finally(() => {
        asking = null
      })
    const answer = await Promise.race([asking.catch(() => null), sleep(patienceMs)])
    if (answer !== null) return answer
    return last !== null && performance.now() - last.atMs < maxAgeMs ? last.answer : without()
  }
}
