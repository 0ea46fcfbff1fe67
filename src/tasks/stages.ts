/** @file Work in stages (plan, research, review, answer), reflections on it, and lessons that later attempts are shown (RubricEM). */

import type { z } from 'zod'
import type { JudgedRollout, StagedRollout, StageJudge, StageRubric } from '../grade/evolving/index.ts'
import type { Json, ReflectionScores, Retrieval } from '../memory/index.ts'
import type { TokenIds } from '../rl/datum.ts'
import type { Rollout } from '../rl/rollout.ts'

/** A rollout by stages. */
export interface StagedRead {
  staged: StagedRollout
  /** The stage of each token, 1 to 4; 0 where a tool wrote. */
  tokenStages: ArrayLike<number>
  /** The trajectory keeps to the scaffold. */
  wellFormed: boolean
}

/** What a reflection says, in the task's own shape. */
export interface ReflectedLessons {
  /** What matters for the problem. */
  rubrics: Json
  /** What carries over to others. */
  takeaways: Json
}

/** A reflection that is to be judged, with all that its judge is told. */
export interface JudgedReflection<Problem> {
  problem: Problem
  attempt: Rollout
  /** What the judge of stages said of the attempt; null where nothing is known of it. */
  judged: { rubrics: readonly StageRubric[]; rollout: JudgedRollout } | null
  lessons: ReflectedLessons
}

/** Looking back at attempts. */
export interface Reflector<Problem> {
  /** Asks for a reflection on an attempt. */
  prompt(problem: Problem, attempt: Rollout): TokenIds
  stopTokens: readonly number[]
  /** What was written; null where it is not in the format. */
  read(problem: Problem, tokens: ArrayLike<number>): ReflectedLessons | null
  /** How useful reflections are as guidance; null where the judge cannot tell. */
  judge(items: readonly JudgedReflection<Problem>[]): Promise<(ReflectionScores | null)[]>
}

/** Values of attempts by name, alone or in groups. */
export type AttemptMetrics = Readonly<Record<string, number | Record<string, number>>>

/** What a task whose work has stages says of them. */
export interface Stages<Problem> {
  read(rollout: Rollout): StagedRead
  /** Given with a problem, for its answer; never removed. */
  persistent(problem: Problem): readonly StageRubric[]
  judge: StageJudge<Problem>
  reflector: Reflector<Problem>
  /** The prompt with lessons of earlier attempts. */
  reminded(problem: Problem, found: Retrieval): TokenIds
  /** How lessons look in rows and reports. */
  show(lessons: ReflectedLessons): string
  /** Checks the takeaways that a file of lessons holds; absent: any will do. */
  takeaways?: z.ZodType<Json>
  /** Another problem that shares lessons with one; absent where nobody knows one. */
  sibling?(problem: Problem): Problem
  /** Lessons of the same make about nothing, drawn by the key; absent where no lesson is known to be empty. */
  placebo?(lessons: ReflectedLessons, key: string): ReflectedLessons
  /** What is known of a rollout for certain beside its answer, by name. */
  truth(problem: Problem, rollout: Rollout): Record<string, number>
  /** What a step's metrics say of its attempts. */
  metrics?(rollouts: readonly Rollout[]): AttemptMetrics
}
