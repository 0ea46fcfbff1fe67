/** @file What an option of rewards is. All that is said of one is in its file; `options.ts` lists them. */

import type { z } from 'zod'
import type { Groups } from '../../rl/rollout.ts'
import type { Criterion, Rubric, Verdict } from '../../rubric/criterion.ts'
import type { NullHandling } from '../../rubric/score.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import type { LeftOut, Noise, ResponseScoring, ScoredResponse } from '../../tasks/scored-response.ts'

/**
 * What a method says of its rewards, and options add, for options to refuse what they cannot do there; what is absent stands against
 * nothing.
 */
export interface RewardFacts {
  /** Why no criterion has a part in what is paid: `reward "random", which no criterion can change`. */
  unpaid?: string | null
  /** Why no score of verdicts is paid, but each criterion by itself. */
  unscored?: string | null
  /** Why no response is judged by itself, criterion by criterion. */
  unjudged?: string | null
  /** What draws or inverts what graders say. */
  noise?: string | null
  /** All points have the other sign, so that a rubric of merits alone has none above 0. */
  negated?: boolean
  /** Why no criterion is judged that could become a lesson. */
  unkept?: string | null
  /** Why there is no rubric of answers for prompts to show. */
  unshown?: string | null
  /** Why a held-out judge is shown nothing. */
  unheard?: string | null
  /** What judges or shows the true rubrics alone, and why. */
  trueRubrics?: string | null
  /** Criteria of every problem, where those are the same. */
  criteria?: readonly Criterion[]
  /** Rubrics of all problems of training. */
  rubrics?: readonly Rubric[]
  /** Criteria of a question are other ones in every step. */
  evolving?: boolean
  /** Nobody knows ids of criteria before the training. */
  unnamed?: boolean
  /** Why graders are asked about all criteria in any case. */
  allAsked?: string
  /** Who judges groups of them. */
  groupsBy?: 'scripted' | 'chat'
  /** What advantages are divided by unless something else is set. Default `group`. */
  usualScale?: string
  /** What a negative control changes: verdicts criterion by criterion, or scores; `ignored`: why nothing that is paid hangs on them. */
  control?: { of: 'verdicts' | 'scores'; ignored?: string | null }
}

/** Where a step's criteria are drawn from: what names the draw. */
export interface CriteriaDraw {
  seed: number | string
  step: number
  /** Names the question within its run. */
  question: string
}

/** What options look at of a method's settings beside their own. */
export interface MethodSettings {
  steps?: number
  rollout?: { prompts: number; samples: number; maxTokens: number }
  scaffold?: { readonly [key: string]: unknown; group?: { kind: string } } | null
  critic?: object | null
}

type Settings<Shape extends z.ZodRawShape> = Partial<z.output<z.ZodObject<Shape>>>

/** Rollouts as they are graded, of which a step tells. */
export type GradedGroups<Problem> = Groups<{
  problem: Problem
  grade: Pick<ScoredResponse, 'leftOut' | 'relative' | 'charges'>
}>

/** A method has the settings of an option, or not; absent settings change nothing. */
export interface RewardOption<Shape extends z.ZodRawShape = z.ZodRawShape> {
  shape: Shape
  /** @throws ConfigError for settings that would be ignored, or do something else than they say */
  refuse?(settings: Settings<Shape> & MethodSettings, facts: RewardFacts): void
  /** What it adds to the facts, where nobody before it says as much. */
  facts?(settings: Settings<Shape>, facts: RewardFacts): RewardFacts
  /** Lines of a plan. */
  plan?(settings: Settings<Shape> & MethodSettings): string[]
  /** What a step tells. */
  metrics?<Problem>(groups: GradedGroups<Problem>): Omit<MetricsRow, 'step'>
  /** Which criteria rewards leave out; absent: none. */
  leavesOut?(
    settings: Settings<Shape>,
    criteria: readonly Droppable[],
    draw: CriteriaDraw,
  ): LeftOutPlaces | undefined
  /** The rubric with what it marks in it, before anything is left out. */
  marks?(settings: Settings<Shape>, rubric: Rubric): Rubric
  /** The verdicts as a score counts them; absent: as they are. */
  counts?(settings: Settings<Shape>, rubric: Rubric, verdicts: readonly Verdict[]): readonly Verdict[]
  /** What makes a score of them in place of the rule so far; absent: that rule. */
  score?(settings: Settings<Shape>, rule: ResponseScoring, nulls?: NullHandling): ResponseScoring
  /** What it adds to the reward of a response beside its score, by name, at most 0; null: nothing. */
  charges?(settings: Settings<Shape>, tokens: Int32Array): Readonly<Record<string, number>> | null
  /** What it makes of what graders say; null: nothing. */
  noise?(settings: Settings<Shape>): Noise | null
  /** What is paid is another thing than the truth, which is then worth watching beside it. */
  spoils?(settings: Settings<Shape>): boolean
}

export type Droppable = Pick<Criterion, 'id' | 'points' | 'critical'>

/** Criteria by place: those of several rubrics may share ids. */
export interface LeftOutPlaces extends Pick<LeftOut, 'asked'> {
  places: ReadonlySet<number>
}
