/** @file Environments: what answers a policy's turns with text of its own, such as the output of a tool. */

import type { TokenIds } from './datum.ts'

/** Something that can be acted in. Where there is none, a rollout is one turn. */
export interface Environment<Problem> {
  /**
   * A fresh episode.
   * @param key names the rollout; what is random in the episode starts from it, so that a resumed run meets the same
   */
  start(problem: Problem, key: string): Episode
  /**
   * Episodes answer within milliseconds, from this process: each goes on as soon as it has its answer. Absent: they may be slow,
   * and go in a few parts, each in rounds, so that others are sampled while some wait.
   */
  instant?: boolean
}

/**
 * One rollout's side of an environment. Its state is its own: episodes of a group know nothing of each other. The policy is busy
 * until all episodes are over, so an episode must not ask the policy that it answers.
 */
export interface Episode {
  /**
   * What the environment says to a turn; null: it is over. A failure that the policy can answer for, or live with, is an
   * observation that says so. What it throws, here or in `start`, ends the rollout as `failed`, without a reward.
   */
  reply(turn: Int32Array): Promise<TokenIds | null>
  /** Called once when the rollout is over, however it ended; lets go what the episode holds. */
  close?(): Promise<void> | void
}

export interface TurnLimits {
  /** Turns that a policy may take. */
  turns: number
  /** Tokens that a rollout may have, the environment's included. */
  tokens: number
}
