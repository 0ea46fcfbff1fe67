/** @file What RubricEM needs of a task: prompts of both roles, a world to act in, rollouts by stage, reflections that can be read. */

import type { z } from 'zod'
import type { JudgedRollout, StagedRollout, StageRubric } from '../../grade/evolving/index.ts'
import type { Json, ReflectionScores, Retrieval } from '../../memory/index.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Environment, TurnLimits } from '../../rl/environment.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { MetricsRow } from '../../runs/rows.ts'

/** What a reflection says, in the task's own shape. */
export interface Lessons<Takeaways extends Json = Json> {
  /** What matters for the question. */
  rubrics: Json
  /** What carries over to other questions. */
  takeaways: Takeaways
}

/** A rollout by stages. */
export interface StagedRead {
  staged: StagedRollout
  /** The stage of each token, 1 to 4; 0 where a tool wrote. */
  tokenStages: ArrayLike<number>
  /** The trajectory keeps to the scaffold. */
  wellFormed: boolean
}

export interface ResearchTask<Question, Takeaways extends Json = Json> {
  name(question: Question): string
  /** The question in words: what memory goes by, and judges are told. */
  question(question: Question): string
  /** @param references what memory gives; null: the plain prompt */
  prompt(question: Question, references: Retrieval<Takeaways> | null): TokenIds
  /** What ends a turn. */
  stopTokens: readonly number[]
  stopStrings?: readonly string[]
  world: Environment<Question>
  limits: TurnLimits
  read(question: Question, rollout: Rollout): StagedRead
  /** A rollout as people read it. */
  text(rollout: Rollout): string
  /** Given with the question, for its answer; never removed. */
  persistent(question: Question): readonly StageRubric[]
  reflectorPrompt(question: Question, attempt: Rollout): TokenIds
  reflectorStopTokens: readonly number[]
  /** What a reflector wrote; null where it is not in the format. */
  readReflection(tokens: ArrayLike<number>): Lessons<Takeaways> | null
  /** Lessons as the bank keeps them; `key` names the candidate. */
  kept(question: Question, lessons: Lessons<Takeaways>, key: string): Lessons<Takeaways>
  /** How lessons look in rows and reports. */
  lessonsText(lessons: Lessons<Takeaways>): string
  /** Checks the takeaways that a file of a bank holds. */
  takeaways?: z.ZodType<Takeaways>
  /** What is known of a rollout for certain, by name. */
  truth?(question: Question, rollout: Rollout): Record<string, number>
  /** What a step's metrics say of its attempts. */
  figures?(attempts: readonly { problem: Question; rollout: Rollout }[]): Omit<MetricsRow, 'step'>
}

/** What the judge of stages said of an attempt. */
export interface JudgedAttempt {
  rubrics: readonly StageRubric[]
  rollout: JudgedRollout
}

/** A candidate reflection that is to be judged, with all that its judge is told (spec 5.4). */
export interface JudgedReflection<Question, Takeaways extends Json = Json> {
  question: Question
  attempt: Rollout
  /** Null where nothing is known of it. */
  judged: JudgedAttempt | null
  lessons: Lessons<Takeaways>
  /** Names the candidate. */
  key: string
}

/** Scores the value of reflections as guidance; null where it cannot tell. */
export interface ReflectionJudge<Question, Takeaways extends Json = Json> {
  score(items: readonly JudgedReflection<Question, Takeaways>[]): Promise<(ReflectionScores | null)[]>
}
