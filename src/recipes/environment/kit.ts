/** @file What is acted in, whatever it is: problems, world, rubrics, what is said of an episode. */

import type { TokenIds } from '../../rl/datum.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import type { Environment, TurnLimits } from '../../train/environment.ts'

/** What an environment says of an episode by itself. */
export interface Outcome {
  /** Of every step, in order; null where it said nothing. */
  rewards: readonly (number | null)[]
  /** It said that the episode is over. */
  done: boolean
  /** Turns that were no action. */
  faults: number
}

export interface Kit<Problem> {
  train: readonly Problem[]
  /** Never trained on. */
  test: readonly Problem[]
  testName: string
  world: Environment<Problem>
  limits: TurnLimits
  stopTokens: readonly number[]
  stopStrings?: readonly string[]
  name(problem: Problem): string
  prompt(problem: Problem): TokenIds
  /** What was asked, for graders. */
  question(problem: Problem): string
  reference?(problem: Problem): string | undefined
  /** Null where nothing is judged. */
  rubric(problem: Problem): Rubric | null
  /** What graders read of an episode. */
  response(rollout: Rollout): string
  show(tokens: TokenIds): string
  /** What the environment says of a rollout; told once. Null: nothing. */
  outcome(key: string): Outcome | null
  notes: readonly string[]
  close(): Promise<void>
}
