/** @file What an evaluation says of episodes: the environment's reward and the score by the rubric, a mean over each problem's. */

import type { TokenIds } from '../../rl/datum.ts'
import type { EvalRow } from '../../runs/rows.ts'
import type { ScoredTask } from '../../tasks/scored-response.ts'
import { mainTest } from '../../tasks/task.ts'
import { spokenTurns } from '../../train/update-rows.ts'
import { mean } from '../../util/statistics.ts'
import { meanTokens, namesIn, type SetItem, setRow } from '../common/evaluated-set.ts'
import { refuseUndecided } from '../common/undecided.ts'
import { criteriaById, verdictFields } from '../common/verdict-rows.ts'
import type { EnvironmentConfig } from './config.ts'
import { type GradedEpisode, ownReward } from './rewards.ts'

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

interface EvalSettings extends Pick<EvalRow, 'step' | 'samples' | 'temperature'> {
  of: EnvironmentConfig['reward']['of']
}

/** The row of an evaluation, with the first episode of each problem that is kept. @throws GradusError where a judge decided nothing */
export const episodesRow = <Problem>(
  task: ScoredTask<Problem>,
  groups: readonly (readonly GradedEpisode<Problem>[])[],
  { of, ...head }: EvalSettings,
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
