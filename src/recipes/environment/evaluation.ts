/** @file What an evaluation says of episodes: the environment's reward and the score by the rubric, a mean over each problem's. */

import type { TokenIds } from '../../rl/datum.ts'
import { withSamples } from '../../runs/eval-samples.ts'
import type { EvalItem, EvalRow, EvalSample } from '../../runs/rows.ts'
import type { ScoredTask } from '../../tasks/scored-response.ts'
import { mainTest } from '../../tasks/task.ts'
import { spokenTurns } from '../../train/lesson-rows.ts'
import { mean } from '../../util/statistics.ts'
import { scoresOf } from '../common/item-scores.ts'
import { refuseUndecided } from '../common/undecided.ts'
import { verdictFields, wordsById } from '../common/verdict-rows.ts'
import type { EnvironmentConfig } from './config.ts'
import { type Episode, ownReward } from './rewards.ts'

/** What graders said of an episode, for reading. */
export const judgedFields = <Problem>(
  task: ScoredTask<Problem>,
  { problem, grade: { scored } }: Episode<Problem>,
) => scored && verdictFields(scored.verdicts, new Map(wordsById(task.rubric(problem).criteria)))

/** An episode of an evaluation, for reading. */
const evalSample = <Problem>(
  task: ScoredTask<Problem>,
  episode: Episode<Problem>,
  primary: string,
  of: EnvironmentConfig['reward']['of'],
): EvalSample => {
  const { problem, rollout } = episode
  const { [primary]: score = null, over: _, failed: __, ...parts } = episodeScores([episode], of)
  const show = (tokens: TokenIds) => task.show(tokens)
  return {
    prompt: show(task.prompt(problem)),
    response: show(rollout.tokens),
    ...(rollout.turns.length > 1 && { turns: spokenTurns(rollout, show) }),
    // What training pays is weighted, and no part of the mean.
    reward: score,
    ...(Object.keys(parts).length > 0 && { parts }),
    tokens: rollout.tokens.length,
    finishReason: rollout.end,
    ...judgedFields(task, episode),
  }
}

const SCORE_NAMES = {
  environment: "the environment's reward",
  rubric: 'by the rubric',
  over: 'episodes that the environment ended',
  failed: 'episodes that failed',
}

/** Means over episodes of a problem. */
const episodeScores = (
  group: readonly Episode<unknown>[],
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

interface EvalSettings {
  step: number
  samples: number
  temperature: number
  of: EnvironmentConfig['reward']['of']
}

const evalRow = <Problem>(
  task: ScoredTask<Problem>,
  groups: readonly (readonly Episode<Problem>[])[],
  { step, samples, temperature, of }: EvalSettings,
): EvalRow => {
  const items = groups.map(
    (group, p): EvalItem => ({
      id: task.id(group[0]?.problem ?? mainTest(task)[1][p]),
      scores: episodeScores(group, of),
    }),
  )
  const names = [...new Set(items.flatMap(({ scores }) => Object.keys(scores)))]
  return {
    ...{ step, set: mainTest(task)[0], n: items.length, samples, temperature },
    scores: scoresOf(items, names),
    primary: ['environment', 'rubric'].find(name => names.includes(name)) ?? 'failed',
    scoreNames: SCORE_NAMES,
    responseTokens: mean(groups.flat().map(({ rollout: { tokens } }) => tokens.length)),
    items,
  }
}

/** The row of an evaluation, with the first episode of each problem that is kept. @throws GradusError where a judge decided nothing */
export const episodesRow = <Problem>(
  task: ScoredTask<Problem>,
  groups: readonly (readonly Episode<Problem>[])[],
  settings: EvalSettings,
): EvalRow => {
  if (settings.step === 0) refuseUndecided(groups.flat().flatMap(({ grade: { scored } }) => scored ?? []))
  const row = evalRow(task, groups, settings)
  const firsts = new Map(groups.flatMap(([first]) => (first ? [[task.id(first.problem), first]] : [])))
  return withSamples(row, id => {
    const first = firsts.get(id)
    return first ? evalSample(task, first, row.primary, settings.of) : null
  })
}
