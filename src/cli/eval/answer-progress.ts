/** @file A line of progress while a model is asked. */

import { Progress } from '../../runs/progress.ts'
import type { Io } from '../io.ts'

/** Begins with the first count, so that answers which were kept before take no time. */
export class AnswerProgress {
  readonly #progress: (done: number) => Progress
  readonly #startMs = performance.now()
  #shown: Progress | undefined
  #kept = 0
  /** Answers that are there. */
  done = 0

  constructor(total: number, io: Io, quiet = false) {
    this.#progress = done =>
      new Progress({ total, done, label: 'answers', unit: 'answer', quiet, stream: io.err })
  }

  onAnswer = (done: number): void => {
    if (this.#shown === undefined) this.#kept = done
    this.#shown ??= this.#progress(done)
    this.done = done
    // Answers that are decoded together end in bursts: the mean over all of them tells more than the last ones.
    const seconds = (performance.now() - this.#startMs) / 1000 / Math.max(1, done - this.#kept)
    this.#shown.update(done, {}, seconds)
  }

  close(): void {
    this.#shown?.close()
  }
}
