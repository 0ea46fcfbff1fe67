/** @file A task: what is asked, and how answers are graded. It is all that a method knows of what it trains on. */

import type { SupervisedDatum, TokenIds } from '../rl/datum.ts'
import type { Environment, TurnLimits } from '../rl/environment.ts'
import type { Rollout } from '../rl/rollout.ts'
import type { Criterion, Rubric, Verdict } from '../rubric/criterion.ts'
import type { Stages } from './stages.ts'
import type { Rubricator, Thinking } from './thinking.ts'

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

/** An answer to be graded by some criteria; `key` names the rollout of a training run. */
export interface Item<Problem> {
  problem: Problem
  tokens: Int32Array
  key?: string
  /** Of training; absent in evaluations. */
  step?: number
  /** All of it, where there were several turns. */
  rollout?: Rollout
  criteria: readonly Criterion[]
}

/** What graders say of one answer. */
export interface Verdicts {
  /** One a criterion, in their order; null verdicts where graders failed. */
  verdicts: readonly Verdict[]
  wellFormed: boolean
  /** What the answer is worth where that is more than its verdicts say; null where graders failed. Absent: by the rubric's rule. */
  score?: number | null
  /** Scores of the answer by name, where it has others than one. */
  scores?: Readonly<Record<string, number | null>>
}

/**
 * Problems with their prompts, rubrics and graders. What only some tasks have is optional; `Said`: what graders say beside their
 * verdicts, such as the steps of a proof.
 */
export interface Task<Problem, Said extends Verdicts = Verdicts> {
  train: readonly Problem[]
  /** Problem i of training, without end; absent: passes over `train`. */
  stream?(index: number): Problem
  /** Sets that are never trained on, by name; the first is what a run is judged by. */
  tests: Readonly<Record<string, readonly Problem[]>>
  /** Begins the names of the random streams that order its problems. */
  label: string
  /** Names a problem in rollout rows and evaluations. */
  id(problem: Problem): string
  /** What is asked as a person reads it; judges are told it, and a memory finds the problem again by it. */
  question(problem: Problem): string
  /** A problem that is none of its own, by what `question` tells of one, for judges of text; absent where that is too little to grade by. */
  fromQuestion?(question: string): Problem
  /** @param hints criteria that are shown: those with positive points to be met, the others to be avoided */
  prompt(problem: Problem, hints?: readonly Criterion[]): TokenIds
  show(tokens: ArrayLike<number>): string
  /** What answers are judged by. */
  rubric(problem: Problem): Rubric
  /** Answers are right or wrong, and nothing between. */
  isBinary?: boolean
  /** Verdicts on every criterion of every item; what they are worth is the rubric's rule (`scored`). */
  grade(items: readonly Item<Problem>[]): Promise<Said[]>
  /** What a criterion counts as in statistics over problems; absent: itself. */
  kind?(criterion: Criterion): string
  /** Whether a prompt can show a criterion that is not of the problem's own rubric; absent: any. */
  shows?(criterion: Criterion): boolean
  /** Whether a response speaks of its hints instead of following them; absent where it cannot. */
  leaks?(tokens: Int32Array): boolean
  /** Thinking before the answer, where it is judged apart. */
  thinking?: Thinking<Problem>
  /** Rubrics for thinking that the policy writes itself. */
  rubricator?: Rubricator<Problem>
  /**
   * What a model learns before it is rewarded: the demonstrations of a step, the first being 1. The same step after the same losses
   * has the same ones.
   */
  demonstrations?(step: number, losses: readonly number[]): readonly SupervisedDatum[]
  /** What is acted in, in turns; absent: an answer is one turn. */
  world?: World<Problem>
  /** Stages of what is done in the world, where they are judged apart, with reflections on it. */
  stages?: Stages<Problem>
  /** A sample ends with one of these; the model's own where absent. */
  stopTokens?: readonly number[]
  /** Finished samples that go to the graders together. */
  gradeBatch?: number
  /** What a person should know before the training: what was left out, for example. */
  notes: readonly string[]
  /** Lets go what it holds. */
  close?(): Promise<void>
}

/** The problems that a task is made of. */
export type Problems<Problem> = Partial<Pick<Task<Problem>, 'train' | 'tests' | 'stream'>>

/** A task that has what only some have. */
export type TaskWith<Problem, Name extends keyof Task<Problem>> = Task<Problem> &
  Required<Pick<Task<Problem>, Name>>

/** The first of a task's test sets, and its name. */
export const mainTest = <Problem>({ tests }: Pick<Task<Problem>, 'tests'>): [string, readonly Problem[]] =>
  Object.entries(tests)[0]
