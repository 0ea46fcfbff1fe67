/** @file Responses scored by a rubric: what graders say of one, and what a task with such graders is. */

import type { TokenIds } from '../rl/datum.ts'
import type { Reward } from '../rl/rollout.ts'
import type { Rubric, Verdict } from '../rubric/criterion.ts'
import { creditOf } from '../rubric/score.ts'

/** What verdicts are worth; null where there is nothing to score. */
export type ScoringRule = (rubric: Rubric, verdicts: readonly Verdict[]) => number | null

/** What a task's graders say of one response. */
export interface ScoredResponse {
  /** By the task's scoring rule; null where the rubric has nothing to score, or graders failed. */
  score: number | null
  /** The score is null because graders failed: nothing is known of the response. */
  unjudged?: boolean
  verdicts: readonly Verdict[]
  wellFormed: boolean
  /** What a criterion counts as in statistics over prompts, by its id; itself where not given. */
  kinds?: Readonly<Record<string, string>>
}

/** Whether there is no score only for lack of verdicts: had they been given, whatever they said, there would be one. */
export const lacksVerdicts = (score: ScoringRule, rubric: Rubric, verdicts: readonly Verdict[]): boolean => {
  const given = verdicts.map(
    (verdict): Verdict => (creditOf(verdict) === null ? { ...verdict, met: false } : verdict),
  )
  return score(rubric, verdicts) === null && score(rubric, given) !== null
}

/** What training pays: nothing for a rubric with nothing to score; null where graders failed, which is not a zero. */
export const rewardOf = ({ score, unjudged = false }: ScoredResponse): number | null =>
  unjudged ? null : (score ?? 0)

/** A response to be graded; `key` names the rollout of a training run. */
export interface ResponseItem<Problem> {
  problem: Problem
  tokens: Int32Array
  key?: string
}

export interface ScoreTask<Problem> {
  name(problem: Problem): string
  prompt(problem: Problem): TokenIds
  grade(items: readonly ResponseItem<Problem>[]): Promise<ScoredResponse[]>
}

/** The reward of a graded response, with the credit of every criterion. */
export const scoredReward = (response: ScoredResponse): Reward => ({
  reward: rewardOf(response),
  parts: Object.fromEntries(response.verdicts.map(verdict => [verdict.criterionId, creditOf(verdict)])),
})
