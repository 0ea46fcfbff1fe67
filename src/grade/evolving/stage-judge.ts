/** @file What a judge of stages is asked: new rubrics about all rollouts of a question, and levels of one rollout on rubrics. */

import type { LevelsById, StagedRollout, StageRubric } from './rubrics.ts'

export interface ProposeRequest<Question> {
  question: Question
  /** Names the question in its run. */
  key: string
  step: number
  /** All rollouts of the question. */
  rollouts: readonly StagedRollout[]
  /** What they are scored on already. */
  existing: readonly StageRubric[]
  signal?: AbortSignal
}

/** Proposals as they came, of any shape (`acceptDrafts` reads them); or why there are none. */
export type ProposedDrafts =
  | { drafts: readonly unknown[]; problem?: undefined }
  | { drafts: null; problem: string }

export interface ScoreRequest<Question> {
  question: Question
  key: string
  step: number
  rollout: StagedRollout
  /** Of stages that the rollout has; at least one. */
  rubrics: readonly StageRubric[]
  signal?: AbortSignal
}

/** A level for each rubric, null where it was not given; or why there is none at all. */
export type RolloutScored = { scores: LevelsById; problem?: undefined } | { scores: null; problem: string }

/**
 * A language model, or two functions. What fails is said, never made up: proposals that cannot be had are none, and a scoring
 * that failed is not a zero. Throws for what every call would meet (no authorisation, no such model) and an aborted signal.
 */
export interface StageJudge<Question> {
  propose(request: ProposeRequest<Question>): Promise<ProposedDrafts>
  score(request: ScoreRequest<Question>): Promise<RolloutScored>
  close?(): Promise<void>
}
