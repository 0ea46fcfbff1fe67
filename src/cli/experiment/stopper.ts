/** @file Ctrl+C for commands that have runs in processes of their own. */

import { EXIT, type Io } from '../io.ts'
import { killChildren } from './process.ts'

export interface Stopper {
  signal: AbortSignal
  /** Stops listening. */
  release(): void
}

/** First Ctrl+C: every run ends after its step, with a checkpoint. Second: at once. */
export const stopper = (io: Io, say: (text: string) => void): Stopper => {
  const controller = new AbortController()
  const release = io.onInterrupt(() => {
    if (controller.signal.aborted) {
      killChildren()
      process.exit(EXIT.interrupted)
    }
    say(
      'stopping: every run ends after its step, with a checkpoint to go on from; Ctrl+C again quits at once',
    )
    controller.abort()
  })
  return { signal: controller.signal, release }
}
