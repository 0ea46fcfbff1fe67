/** @file Responses scored by a rubric: what graders say of one, and what a task with such graders is. */

import type { TokenIds } from '../rl/datum.ts'
import type { Reward } from '../rl/rollout.ts'
import type { Criterion, JudgeCall, Rubric, Verdict } from '../rubric/criterion.ts'
import { withoutCriteria } from '../rubric/dropout.ts'
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
  /** Where the score leaves criteria out that graders were asked about: the score by all of them. */
  whole?: number | null
  /** What a judge said that saw all responses to the problem at once; it is what is paid then. */
  relative?: { score: number | null; explanation: string | null; call?: JudgeCall }
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
export const rewardOf = ({
  score,
  unjudged = false,
}: Pick<ScoredResponse, 'score' | 'unjudged'> & Partial<ScoredResponse>): number | null =>
  unjudged ? null : (score ?? 0)

/** Criteria that a score leaves out, by id. */
export interface LeftOut {
  ids: ReadonlySet<string>
  /** Graders are asked about them all the same. */
  asked: boolean
}

/** A response to be graded; `key` names the rollout of a training run. */
export interface ResponseItem<Problem> {
  problem: Problem
  tokens: Int32Array
  key?: string
  /** Absent: the score counts the whole rubric. */
  leftOut?: LeftOut
}

/** What stands between graders and a reward in an experiment; `key` names the rollout. */
export interface Noise {
  verdicts(verdicts: readonly Verdict[], key: string): Verdict[]
  score(score: number | null, key: string): number | null
}

export interface RubricScoring {
  rubric: Rubric
  score: ScoringRule
  noise?: Noise
  key?: string
  leftOut?: LeftOut
  grade(criteria: readonly Criterion[]): Promise<readonly Verdict[]>
}

/** A response's verdicts and score by a rubric, or by the part of it that is not left out. */
export const scoreByRubric = async ({
  rubric,
  score,
  noise,
  key = '',
  leftOut,
  grade,
}: RubricScoring): Promise<Pick<ScoredResponse, 'score' | 'unjudged' | 'verdicts' | 'whole'>> => {
  const isPart = leftOut !== undefined && leftOut.ids.size > 0
  const counted = isPart ? withoutCriteria(rubric, leftOut.ids) : rubric
  const asked = isPart && !leftOut.asked ? counted : rubric
  const given = await grade(asked.criteria)
  const verdicts = noise ? noised(noise, rubric, given, key) : given
  const counting = isPart ? verdicts.filter(({ criterionId }) => !leftOut.ids.has(criterionId)) : verdicts
  const scored = score(counted, counting)
  const paid = noise ? noise.score(scored, key) : scored
  return {
    score: paid,
    ...(paid === null && { unjudged: lacksVerdicts(score, counted, counting) }),
    ...(isPart && leftOut.asked && { whole: score(rubric, verdicts) }),
    verdicts,
  }
}

/** Noise is drawn for every criterion of the rubric, so that a verdict gets the same whoever else was asked about. */
const noised = (noise: Noise, { criteria }: Rubric, given: readonly Verdict[], key: string): Verdict[] => {
  if (given.length === criteria.length) return noise.verdicts(given, key)
  const known = new Map(given.map(verdict => [verdict.criterionId, verdict]))
  const all = criteria.map(
    ({ id }): Verdict => known.get(id) ?? { criterionId: id, met: null, source: 'rule' },
  )
  return noise.verdicts(all, key).filter(({ criterionId }) => known.has(criterionId))
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
