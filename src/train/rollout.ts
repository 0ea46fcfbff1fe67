/** @file Sampling and grading side by side: a finished sample goes to the graders while the others are still being sampled. */

import type { Policy, Sample, SamplingOptions } from '../policy/policy.ts'
import type { TokenIds } from '../rl/datum.ts'
import { DataError } from '../util/errors.ts'

/** A problem with its prompt, its samples and what the graders say of each. */
export interface Group<Problem, Grade> {
  problem: Problem
  promptTokens: TokenIds
  samples: Sample[]
  grades: Grade[]
}

export interface GradeItem<Problem> {
  problem: Problem
  sample: Sample
}

/** One grade for every item, in their order. */
export type Grader<Problem, Grade> = (items: readonly GradeItem<Problem>[]) => Promise<Grade[]>

export interface RolloutSettings extends SamplingOptions {
  samplesPerPrompt: number
  /** Finished samples go to the grader in batches of at least this many. */
  gradeBatch?: number
}

/** Seconds of wall time: sampling, and grading beyond it; `gradeBusy` is the time during which grading was under way at all. */
export interface RolloutTime {
  sample: number
  grade: number
  gradeBusy: number
}

const seconds = (fromMs: number, toMs = performance.now()) => (toMs - fromMs) / 1000

/** Collects finished samples and hands them on in batches; several batches may be under way. */
class GradingQueue<Problem, Grade> {
  readonly grades = new Map<Sample, Grade>()
  readonly #grader: Grader<Problem, Grade>
  readonly #batch: number
  readonly #running: Promise<void>[] = []
  #waiting: GradeItem<Problem>[] = []
  #active = 0
  #activeSince = 0
  busySeconds = 0

  constructor(grader: Grader<Problem, Grade>, batch: number) {
    this.#grader = grader
    this.#batch = batch
  }

  push(item: GradeItem<Problem>): void {
    this.#waiting.push(item)
    if (this.#waiting.length >= this.#batch) this.#send()
  }

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

  async #grade(items: readonly GradeItem<Problem>[]): Promise<void> {
    if (this.#active++ === 0) this.#activeSince = performance.now()
    try {
      const grades = await this.#grader(items)
      if (grades.length !== items.length)
        throw new DataError(
          `grader: expected one grade for each of ${items.length} rollouts, got ${grades.length}; return a grade for every item, in their order`,
        )
      items.forEach(({ sample }, i) => {
        this.grades.set(sample, grades[i])
      })
    } finally {
      if (--this.#active === 0) this.busySeconds += seconds(this.#activeSince)
    }
  }
}

/**
 * Samples a group for every problem and grades all of it. Groups keep the order of the problems.
 * @throws DataError when the grader returns more or fewer grades than it was given items; what policy and grader throw.
 */
export const rollOut = async <Problem, Grade>(
  policy: Policy,
  problems: readonly Problem[],
  promptOf: (problem: Problem) => TokenIds,
  grader: Grader<Problem, Grade>,
  settings: RolloutSettings,
): Promise<{ groups: Group<Problem, Grade>[]; time: RolloutTime }> => {
  const prompts = problems.map(promptOf)
  const queue = new GradingQueue(grader, settings.gradeBatch ?? 64)
  const startMs = performance.now()
  const samples = await policy.sample({ ...settings, prompts }, sample => {
    queue.push({ problem: problems[sample.prompt], sample })
  })
  const sampledMs = performance.now()
  await queue.finish()
  const groups = problems.map((problem, p) => {
    const own = samples.slice(p * settings.samplesPerPrompt, (p + 1) * settings.samplesPerPrompt)
    return {
      problem,
      promptTokens: prompts[p],
      samples: own,
      grades: own.map(sample => queue.grades.get(sample)!),
    }
  })
  const time = {
    sample: seconds(startMs, sampledMs),
    grade: seconds(sampledMs),
    gradeBusy: queue.busySeconds,
  }
  return { groups, time }
}
