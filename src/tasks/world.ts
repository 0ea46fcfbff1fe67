/** @file What a task is acted in, before what comes of it is graded. */

import type { Environment, TurnLimits } from '../rl/environment.ts'

/** What an environment says of an episode by itself. */
export interface EpisodeOutcome {
  /** Of every step, in order; null where it said nothing. */
  rewards: readonly (number | null)[]
  /** It said that the episode is over. */
  done: boolean
  /** Turns that were no action, or one that it refused. */
  faults: number
}

export interface World<Problem> {
  environment: Environment<Problem>
  limits: TurnLimits
  /** A turn ends with one of these as well. */
  stopStrings?: readonly string[]
  /** What the environment says of a rollout; told once. Null: nothing. */
  outcome(key: string): EpisodeOutcome | null
  /** Its rewards are what an episode is worth, whatever graders say. */
  pays?: true
}
