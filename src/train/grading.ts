/** @file Grading beside sampling: what is finished is handed on in batches, several of which may be under way. */

import type { Rollout } from '../rl/rollout.ts'
import { DataError } from '../util/errors.ts'

export interface AnsweredItem<Problem> {
  problem: Problem
  /** Its key names what is drawn for its grade. */
  rollout: Rollout
  step: number
}

/** One grade for every item, in their order. */
export type ItemGrader<Problem, Grade> = (items: readonly AnsweredItem<Problem>[]) => Promise<Grade[]>

/** Collects finished rollouts and hands them on in batches of at least `batch`. */
export class GradingQueue<Problem, Grade> {
  /** Grades by the rollout's key. */
  readonly grades = new Map<string, Grade>()
  /** Seconds during which grading was under way at all. */
  busySeconds = 0
  readonly #grader: ItemGrader<Problem, Grade>
  readonly #batch: number
  readonly #running: Promise<void>[] = []
  #waiting: AnsweredItem<Problem>[] = []
  #active = 0
  #activeSinceMs = 0

  constructor(grader: ItemGrader<Problem, Grade>, batch: number) {
    this.#grader = grader
    this.#batch = batch
  }

  push(item: AnsweredItem<Problem>): void {
    this.#waiting.push(item)
    if (this.#waiting.length >= this.#batch) this.#send()
  }

  /** Resolves when everything has its grade. @throws what the grader throws; DataError for more or fewer grades than items */
  async finish(): Promise<void> {
    this.#send()
    await Promise.all(this.#running)
  }

  #send(): void {
    const items = this.#waiting
    if (items.length === 0) return
    this.#waiting = []
    const run = this.#grade(items)
    // The failure is reported by `finish`; until then it must not count as unhandled.
    run.catch(() => {})
    this.#running.push(run)
  }

  async #grade(items: readonly AnsweredItem<Problem>[]): Promise<void> {
    if (this.#active++ === 0) this.#activeSinceMs = performance.now()
    try {
      const grades = await this.#grader(items)
      if (grades.length !== items.length)
        throw new DataError(
          `grader: expected one grade for each of ${items.length} rollouts, got ${grades.length}; return a grade for every item, in their order`,
        )
      items.forEach(({ rollout }, i) => {
        this.grades.set(rollout.key, grades[i])
      })
    } finally {
      if (--this.#active === 0) this.busySeconds += (performance.now() - this.#activeSinceMs) / 1000
    }
  }
}
