/** @file How long the training problems are where that changes as training goes on: by success, or by fixed steps. */

import { z } from 'zod'
import type { MetricsRow } from '../../runs/rows.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { MAX_HOPS } from '../../tasks/logic/generator.ts'
import { kindSchema, orAbsent } from '../../train/config.ts'
import type { RecipeState } from '../../train/recipe.ts'
import { ConfigError, DataError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { parseWith } from '../../util/schema.ts'
import { amount, natural, whole } from '../../util/setting-shapes.ts'

export const hopCount = z.int().min(1).max(MAX_HOPS)
/** Weights by number of hops: `{3: 1, 5: 2}`. */
export const hopWeights = z.record(z.string().regex(/^(?:[1-9]|1[0-6])$/), amount)

const mixShape = {
  from: hopCount.describe('Longest proof at the start.'),
  shortest: hopCount.optional().describe('Shortest proof that is mixed in; absent: `from`.'),
  longestShare: z
    .number()
    .gt(0)
    .max(1)
    .default(0.5)
    .describe('Share of problems of the longest length; the others are uniform among the shorter lengths.'),
}

/** Lengths that grow while training goes on. */
export const lengthScheduleSchema = z.discriminatedUnion('kind', [
  /**
   * The next length is mixed in when, over `window` steps, at least `threshold` of the rollouts on the longest problems are
   * correct and proved; `by: answered`: have the right answer, for arms that are told of nothing else.
   */
  kindSchema('growing', 'The next length is added after enough success on the longest one.', {
    ...mixShape,
    to: hopCount.describe('Longest proof at the end of the schedule.'),
    threshold: z
      .number()
      .gt(0)
      .max(1)
      .default(0.8)
      .describe('Success rate at which the next length is added.'),
    window: natural
      .default(5)
      .describe('Steps whose rollouts on the longest problems give the success rate.'),
    by: orAbsent(
      z.enum(['proved', 'answered']),
      'What counts as success: a right answer that is proved (`proved`, also when absent), or any right answer (`answered`).',
    ),
  }),
  kindSchema('steps', 'The next length is added at given steps, to compare runs under one schedule.', {
    ...mixShape,
    at: z.array(z.int().min(2)).min(1).describe('Steps at which the next length is added.'),
  }),
])
export type LengthSchedule = z.output<typeof lengthScheduleSchema>

/** What `task.hops` may be: a length, weights of lengths, or a schedule. */
export type Hops = number | Record<string, number> | LengthSchedule

export const isSchedule = (hops: Hops): hops is LengthSchedule =>
  typeof hops === 'object' && 'kind' in hops && typeof hops.kind === 'string'

/** The longest problems that a schedule ever comes to. */
export const mostHops = (schedule: LengthSchedule): number =>
  schedule.kind === 'growing' ? schedule.to : schedule.from + schedule.at.length

/** What test problems are made of: a schedule's goal, or what training has. */
export const goalOf = (hops: Hops): number | Record<string, number> =>
  isSchedule(hops) ? mostHops(hops) : hops

/** @throws ConfigError for lengths that do not rise */
export const checkSchedule = (schedule: LengthSchedule): void => {
  const { from, shortest = from } = schedule
  const most = mostHops(schedule)
  if (shortest > from)
    throw new ConfigError(
      `task.hops.shortest: expected at most ${from}, where the schedule begins, got ${shortest}`,
    )
  if (schedule.kind === 'growing' && most < from)
    throw new ConfigError(`task.hops.to: expected at least ${from}, where the schedule begins, got ${most}`)
  if (schedule.kind === 'growing') return
  const { at } = schedule
  const falling = at.findIndex((step, i) => i > 0 && step <= at[i - 1])
  if (falling > 0)
    throw new ConfigError(
      `task.hops.at[${falling}]: expected a step after ${at[falling - 1]}, got ${at[falling]}`,
    )
  if (most > MAX_HOPS)
    throw new ConfigError(
      `task.hops.at: expected at most ${MAX_HOPS - from} steps from ${from} hops on, got ${at.length}`,
      { hint: `problems have at most ${MAX_HOPS} hops` },
    )
}

/** Rollouts on problems of the longest length in one step. */
const tallySchema = z.strictObject({ proved: whole, graded: natural })
type Tally = z.output<typeof tallySchema>

const stateSchema = z.strictObject({
  longest: hopCount,
  window: z.array(tallySchema),
})

/** How a rollout on a problem went; null where nothing can be said of it. */
export interface RolloutOutcome {
  problem: LogicTaskExample
  proved: boolean | null
  /** What counts for a longer length where that is not the proof. */
  passed?: boolean
}

/** The schedule as a run goes through it: which lengths a step draws, and what its results change. */
export class Lengths {
  readonly #schedule: LengthSchedule
  readonly #seed: number | string
  #longest: number
  #window: Tally[] = []
  readonly #lengthOf = new WeakMap<LogicTaskExample, number>()

  constructor(schedule: LengthSchedule, seed: number | string) {
    this.#schedule = schedule
    this.#seed = seed
    this.#longest = schedule.from
  }

  /** The longest problems of a step. */
  longestAt(step: number): number {
    const { kind, from } = this.#schedule
    return kind === 'growing' ? this.#longest : from + this.#schedule.at.filter(at => step >= at).length
  }

  /** Problems of a step; of which lengths depends on seed, step and state alone. */
  draw(
    step: number,
    count: number,
    problemOf: (i: number, hops: number) => LogicTaskExample,
  ): LogicTaskExample[] {
    const longest = this.longestAt(step)
    const rng = new Rng(`lengths/${this.#seed}/${step}`)
    return Array.from({ length: count }, (_, i) => {
      const hops = this.#drawHops(rng, longest)
      const problem = problemOf(i, hops)
      this.#lengthOf.set(problem, hops)
      return problem
    })
  }

  #drawHops(rng: Rng, longest: number): number {
    const { from, shortest = from, longestShare } = this.#schedule
    const isLongest = rng.next() < longestShare
    const other = rng.next()
    return isLongest || longest === shortest ? longest : shortest + Math.floor(other * (longest - shortest))
  }

  /** Metrics of a step's rollouts; moves on where they are good enough. */
  learn(step: number, outcomes: readonly RolloutOutcome[]): Omit<MetricsRow, 'step'> {
    const tallies = new Map<number, Tally & { drawn: number; passed: number }>()
    for (const { problem, proved, passed = proved } of outcomes) {
      const hops = this.#lengthOf.get(problem)
      if (hops === undefined) continue
      const tally = tallies.get(hops) ?? { proved: 0, passed: 0, graded: 0, drawn: 0 }
      tallies.set(hops, tally)
      tally.drawn++
      if (proved === null) continue
      tally.graded++
      tally.proved += Number(proved)
      tally.passed += Number(passed)
    }
    const lengths = [...tallies].sort(([a], [b]) => a - b)
    const longestHops = this.longestAt(step)
    const longest = tallies.get(longestHops)
    this.#move(longest && { proved: longest.passed, graded: longest.graded })
    const name = (hops: number) => (hops === 1 ? '1 hop' : `${hops} hops`)
    return {
      longestHops,
      provedByLength: Object.fromEntries(
        lengths.map(([hops, { proved, graded }]) => [name(hops), graded > 0 ? proved / graded : null]),
      ),
      shareByLength: Object.fromEntries(
        lengths.map(([hops, { drawn }]) => [name(hops), drawn / outcomes.length]),
      ),
    }
  }

  #move(tally: Tally | undefined): void {
    if (this.#schedule.kind !== 'growing' || tally === undefined || tally.graded === 0) return
    const { window, threshold, to } = this.#schedule
    const { proved, graded } = tally
    this.#window = [...this.#window, { proved, graded }].slice(-window)
    const sum = (pick: (each: Tally) => number) => this.#window.reduce((total, each) => total + pick(each), 0)
    const share = sum(each => each.proved) / sum(each => each.graded)
    if (this.#window.length < window || share < threshold || this.#longest >= to) return
    this.#longest++
    this.#window = []
  }

  /** What a resumed run goes on from; fixed steps have none. */
  get state(): RecipeState | undefined {
    if (this.#schedule.kind === 'steps') return undefined
    return {
      save: () => ({ longest: this.#longest, window: this.#window }),
      load: value => {
        const { longest, window } = parseWith(stateSchema, value, 'state of task.hops', DataError)
        this.#longest = longest
        this.#window = window
      },
    }
  }
}
