/** @file The caller's end of the built-in solver, which works in a thread that can be killed. */

import { WorkCrashed, WorkFailed, WorkPool, WorkTimeout } from '../../util/work-pool.ts'
import { workerUrl } from '../../util/worker-url.ts'
import type { Formula } from './formula.ts'
import type { GroundStatus } from './ground.ts'

export interface GroundQuestion {
  premises: readonly Formula[]
  formulas: readonly Formula[]
  maxWork: number
}

/** The count of work ends a question long before; this is for what the count does not see. */
const QUESTION_LIMIT_MS = 20_000

/** What it says of a formula: null where it cannot tell; `failed` where its thread died of the question, which tells nothing. */
export type GroundAnswer = GroundStatus | 'failed' | null

/** Answers in the order of the formulas. The thread starts with the first question. */
export class GroundProcess {
  readonly #maxWork: number
  #pool: WorkPool<GroundQuestion, (GroundStatus | null)[]> | null = null

  /** @param maxWork a question, as `groundStatus` counts it */
  constructor(maxWork: number) {
    this.#maxWork = maxWork
  }

  get restarts(): number {
    return this.#pool?.stats().restarts ?? 0
  }

  /** @throws WorkUnstarted, WorkRefused when there is no thread to ask */
  async statuses(premises: readonly Formula[], formulas: readonly Formula[]): Promise<GroundAnswer[]> {
    if (formulas.length === 0) return []
    this.#pool ??= new WorkPool(workerUrl(import.meta.url, './ground-worker.js'), { threads: 2 })
    try {
      const budgetMs = QUESTION_LIMIT_MS * formulas.length
      return await this.#pool.run({ premises, formulas, maxWork: this.#maxWork }, { budgetMs })
    } catch (error) {
      const survivable =
        error instanceof WorkTimeout || error instanceof WorkCrashed || error instanceof WorkFailed
      if (!survivable) throw error
      if (formulas.length === 1) return [error instanceof WorkTimeout ? null : 'failed']
      // One of them did it: each by itself, so that it says nothing about the others.
      const answers = formulas.map(formula => this.statuses(premises, [formula]))
      return (await Promise.all(answers)).flat()
    }
  }

  async close(): Promise<void> {
    await this.#pool?.close()
  }
}
