/** @file What an episode is worth: the environment's own reward and the score by a rubric. */

import type { Graded, Reward } from '../../rl/rollout.ts'
import { creditOf } from '../../rubric/score.ts'
import { rewardOf, type ScoredResponse } from '../../tasks/scored-response.ts'
import type { EpisodeOutcome } from '../../tasks/task.ts'
import type { EnvironmentConfig } from './config.ts'

/** What is known of an episode. */
export interface EpisodeGrade {
  /** Null where the environment has no reward of its own, as tools have none. */
  outcome: EpisodeOutcome | null
  /** Null where there is no rubric. */
  scored: Pick<ScoredResponse, 'score' | 'unjudged' | 'verdicts'> | null
}

/** A rollout with what is known of it. */
export type GradedEpisode<Problem> = Graded<Problem, EpisodeGrade>

/** The environment's own reward of an episode; one that never said anything is worth 0. */
export const ownReward = (
  { rewards }: Pick<EpisodeOutcome, 'rewards'>,
  of: EnvironmentConfig['reward']['of'],
): number => {
  const said = rewards.filter(reward => reward !== null)
  return of === 'last' ? (said.at(-1) ?? 0) : said.reduce((sum, reward) => sum + reward, 0)
}

/**
 * The weighted sum, with its raw parts. Null where graders failed whose score counts: that is not a zero.
 */
export const episodeReward = (
  { outcome, scored }: EpisodeGrade,
  { environment, rubric, of }: EnvironmentConfig['reward'],
): Reward => {
  const own = outcome && ownReward(outcome, of)
  const judged = scored && rewardOf(scored)
  const isUnknown = scored !== null && judged === null && rubric !== 0
  return {
    reward: isUnknown ? null : environment * (own ?? 0) + rubric * (judged ?? 0),
    parts: {
      ...(own !== null && { environment: own }),
      ...(scored && { rubric: scored.score }),
      ...Object.fromEntries((scored?.verdicts ?? []).map(own => [own.criterionId, creditOf(own)])),
    },
  }
}
