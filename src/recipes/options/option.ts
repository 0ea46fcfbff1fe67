/** @file What an option of rewards is. All that is said of one is in its file; `options.ts` lists them. */

import type { z } from 'zod'
import type { Groups } from '../../rl/rollout.ts'
import type { Criterion, Rubric, Verdict } from '../../rubric/criterion.ts'
import type { NullHandling } from '../../rubric/score.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import type { LeftOut, ResponseScoring, ScoredResponse } from '../../tasks/scored-response.ts'

/** What a method says of its rewards, for options to refuse what they cannot do there; what is absent stands against nothing. */
export interface RewardFacts {
  /** Why no criterion has a part in what is paid: `reward "random", which no criterion can change`. */
  unpaid?: string | null
  /** What draws or inverts what graders say. */
  noise?: string | null
  /** All points have the other sign, so that a rubric of merits alone has none above 0. */
  negated?: boolean
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
  /** Responses to a problem. */
  samples?: number
  /** Who judges groups of them. */
  groupsBy?: 'scripted' | 'chat'
  /** Settings that are there of what the verdicts on one response are worth. */
  scoredBy?: readonly string[]
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

type Settings<Shape extends z.ZodRawShape> = Partial<z.output<z.ZodObject<Shape>>>

/** Rollouts as they are graded, of which a step tells. */
export type GradedGroups<Problem> = Groups<{
  problem: Problem
  grade: Pick<ScoredResponse, 'leftOut' | 'relative'>
}>

/** A method has the settings of an option, or not; absent settings change nothing. */
export interface RewardOption<Shape extends z.ZodRawShape = z.ZodRawShape> {
  shape: Shape
  /** @throws ConfigError for settings that would be ignored, or do something else than they say */
  refuse?(settings: Settings<Shape>, facts: RewardFacts): void
  /** Lines of a plan. */
  plan?(settings: Settings<Shape> & PlannedSteps): string[]
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
  /** Why no criterion has a part in what is paid under it. */
  unpaid?(settings: Settings<Shape>, facts: RewardFacts): string | null
  /** What of it draws or inverts what graders say. */
  noise?(settings: Settings<Shape>): string | null
  /** What is paid is another thing than the truth, which is then worth watching beside it. */
  spoils?(settings: Settings<Shape>): boolean
}

export type Droppable = Pick<Criterion, 'id' | 'points' | 'critical'>

/** Criteria by place: those of several rubrics may share ids. */
export interface LeftOutPlaces extends Pick<LeftOut, 'asked'> {
  places: ReadonlySet<number>
}

/** What a plan knows of a training's size. */
export interface PlannedSteps {
  steps?: number
  rollout?: { prompts: number }
}
