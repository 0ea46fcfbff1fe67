/** @file A line of progress while a model is asked. */

import { Progress } from '../../runs/progress.ts'
import type { Io } from '../io.ts'

/** Counts from the first report on: answers that were kept before take no time. */
export class AnswerProgress {
  readonly #shown: Progress
  readonly #startMs = performance.now()
  #kept: number | undefined
  /** Answers that are there. */
  done = 0

  constructor(total: number, io: Io, quiet = false) {
    this.#shown = new Progress({ total, label: 'answers', unit: 'answer', quiet, stream: io.err })
  }

  onAnswer = (done: number): void => {
    this.#kept ??= done
    this.done = done
    // Answers that are decoded together end in bursts: the mean over all of them tells more than the last ones.
    const seconds = (performance.now() - this.#startMs) / 1000 / Math.max(1, done - this.#kept)
    this.#shown.update(done, {}, seconds)
  }

  close(): void {
    this.#shown.close()
  }
}
