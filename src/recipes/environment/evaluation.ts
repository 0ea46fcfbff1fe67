/** @file What an episode is worth, and what an evaluation says of episodes. */

import type { TokenIds } from '../../rl/datum.ts'
import type { Graded, Reward } from '../../rl/rollout.ts'
import { creditOf } from '../../rubric/score.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { rewardOf, type ScoredResponse, type ScoredTask } from '../../tasks/scored-response.ts'
import type { EpisodeOutcome } from '../../tasks/task.ts'
import { mainTest } from '../../tasks/task.ts'
import { spokenTurns } from '../../train/update-rows.ts'
import { mean } from '../../util/statistics.ts'
import { meanTokens, namesIn, type SetItem, setRow } from '../common/evaluated-set.ts'
import { criteriaById, verdictFields } from '../common/rubric-task.ts'
import { refuseUndecided } from '../common/undecided.ts'
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

/** What graders said of an episode, for reading. */
export const episodeVerdictFields = <Problem>(
  task: ScoredTask<Problem>,
  { problem, grade: { scored } }: GradedEpisode<Problem>,
) => scored && verdictFields(scored.verdicts, new Map(criteriaById(task.rubric(problem).criteria)))

const SCORE_NAMES = {
  environment: "the environment's reward",
  rubric: 'by the rubric',
  over: 'episodes that the environment ended',
  failed: 'episodes that failed',
}

/** Means over episodes of a problem. */
const episodeScores = (
  group: readonly GradedEpisode<unknown>[],
  of: EnvironmentConfig['reward']['of'],
): Record<string, number> => {
  const outcomes = group.flatMap(({ grade: { outcome }, rollout: { end } }) =>
    outcome && end !== 'failed' ? [outcome] : [],
  )
  const scores = group.flatMap(({ grade: { scored } }) => scored?.score ?? [])
  return {
    ...(outcomes.length > 0 && {
      environment: mean(outcomes.map(own => ownReward(own, of))),
      over: mean(outcomes.map(({ done }) => Number(done))),
    }),
    ...(scores.length > 0 && { rubric: mean(scores) }),
    failed: mean(group.map(({ rollout: { end } }) => Number(end === 'failed'))),
  }
}

/** The row of an evaluation, with the first episode of each problem that is kept. @throws GradusError where a judge decided nothing */
export const episodesRow = <Problem>(
  task: ScoredTask<Problem>,
  groups: readonly (readonly GradedEpisode<Problem>[])[],
  of: EnvironmentConfig['reward']['of'],
  head: Pick<EvalRow, 'step' | 'samples' | 'temperature'>,
): EvalRow => {
  if (head.step === 0) refuseUndecided(groups.flat().flatMap(({ grade: { scored } }) => scored ?? []))
  const show = (tokens: TokenIds) => task.show(tokens)
  const items = groups.map((group): SetItem => {
    const [first] = group
    const { problem, rollout } = first
    return {
      id: task.id(problem),
      scores: episodeScores(group, of),
      first: () => {
        const { [primary]: reward = null, over: _, failed: __, ...parts } = episodeScores([first], of)
        return {
          prompt: show(task.prompt(problem)),
          response: show(rollout.tokens),
          ...(rollout.turns.length > 1 && { turns: spokenTurns(rollout, show) }),
          // What training pays is weighted, and no part of the mean.
          reward,
          ...(Object.keys(parts).length > 0 && { parts }),
          ...{ tokens: rollout.tokens.length, finishReason: rollout.end },
          ...episodeVerdictFields(task, first),
        }
      },
    }
  })
  const names = namesIn(items)
  const primary = ['environment', 'rubric'].find(name => names.includes(name)) ?? 'failed'
  const responseTokens = meanTokens(groups.map(group => group.map(({ rollout }) => rollout)))
  const [set] = mainTest(task)
  return setRow({ set, ...head }, items, { primary, scoreNames: SCORE_NAMES, responseTokens })
}
