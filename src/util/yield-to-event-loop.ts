/** @file Long work on one thread that lets others have their turn. */

/** How long work may go on before it lets others have their turn. */
const TURN_MS = 20

export type YieldToEventLoop = () => Promise<void>

/** For long batches: waits for a turn of the event loop where the last is more than 20 ms ago, so that timers and requests go on. */
export const eventLoopYield = (): YieldToEventLoop => {
  let sinceMs = performance.now()
  return async () => {
    if (performance.now() - sinceMs < TURN_MS) return
    await new Promise(resolve => setImmediate(resolve))
    sinceMs = performance.now()
  }
}
