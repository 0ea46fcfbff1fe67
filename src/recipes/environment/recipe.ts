/**
 * @file Reinforcement in an environment, by its own reward and a rubric: GRPO over episodes.
 *
 * 1. Each of the G samples of a problem acts in an episode of its own; all begin alike.
 * 2. What the environment says is context for what follows: it has mask 0, and no loss falls on it.
 * 3. The reward is the environment's own, and the score by the rubric, each by its weight; advantages are relative to the group
 *    and the same for every token that the policy wrote.
 */

import type { Policy } from '../../policy/policy.ts'
import { grpoAdvantages } from '../../rl/advantages.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { advantagesOf, creditRollouts, datumsOf, type Graded } from '../../rl/rollout.ts'
import { withSamples } from '../../runs/eval-samples.ts'
import type { EvalItem, EvalRow, EvalSample, MetricsRow } from '../../runs/rows.ts'
import type { ScoredTask } from '../../tasks/scored-response.ts'
import { mainTest, type Task } from '../../tasks/task.ts'
import type { GradeItem } from '../../train/grading.ts'
import { rewardFigures, rolloutRow, spokenTurns } from '../../train/lesson-rows.ts'
import { learntFrom, type Recipe } from '../../train/recipe.ts'
import { type Io, StepRollouts } from '../../train/rollout.ts'
import { mean } from '../../util/statistics.ts'
import { besideGreedy } from '../common/greedy.ts'
import { scoresOf } from '../common/item-scores.ts'
import { problemsIn, problemsOf } from '../common/problem-order.ts'
import { testProblems } from '../common/test-problems.ts'
import { phaseOf, samplingOf } from '../common/training.ts'
import { refuseUndecided } from '../common/undecided.ts'
import { verdictFields, wordsById } from '../common/verdict-rows.ts'
import type { EnvironmentConfig } from './config.ts'
import { type EpisodeGrade, episodeReward, ownReward } from './rewards.ts'

export interface EnvironmentParts<Problem> {
  policy: Policy
  task: ActedTask<Problem>
}

/** A task that is acted in, scored. */
type ActedTask<Problem> = ScoredTask<Problem> & Required<Pick<Task<Problem>, 'world'>>

type Episode<Problem> = Graded<Problem, EpisodeGrade>

export const environmentRecipe = <Problem>(
  config: EnvironmentConfig,
  { policy, task }: EnvironmentParts<Problem>,
): Recipe<Episode<Problem>[][]> => {
  const { rollout, reward } = config
  const { environment, limits, stopStrings, outcome } = task.world
  const problem = problemsOf(task, config.seed)

  const grade = async (items: readonly GradeItem<Problem>[]): Promise<EpisodeGrade[]> => {
    const outcomes = items.map(({ rollout: { key } }) => outcome(key))
    const judged = items.filter(
      ({ problem: own, rollout: { end } }) => end !== 'failed' && task.rubric(own).criteria.length > 0,
    )
    const scored = await task.grade(
      judged.map(({ problem: own, rollout: acted }) => ({
        ...{ problem: own, tokens: acted.tokens, key: acted.key, rollout: acted },
      })),
    )
    const scoreOf = new Map(judged.map((item, i) => [item, scored[i]]))
    return items.map((item, i) => ({ outcome: outcomes[i], scored: scoreOf.get(item) ?? null }))
  }

  const act = (io: Io, problems: readonly Problem[], samples: number, temperature: number, last = false) =>
    io.rollOut<Problem, EpisodeGrade>({
      ...{ problems, samples, last, grade, gradeBatch: task.gradeBatch },
      prompt: own => task.prompt(own),
      sampling: { ...samplingOf(config, task.stopTokens), temperature, stopStrings },
      environment: { world: environment, limits },
      reward: own => episodeReward(own, reward),
    })

  return {
    rollOut(step, io) {
      return act(io, problemsIn(step, problem, config), rollout.samples, rollout.temperature, true)
    },

    async learn(step, groups) {
      const { advantages_P_G, zeroVarianceGroups } = advantagesOf(groups, known =>
        grpoAdvantages(known, config.advantage),
      )
      const credited = creditRollouts(groups, advantages_P_G)
      return {
        phases: [phaseOf(config, datumsOf(credited, config))],
        metrics: {
          ...rewardFigures(groups),
          ...episodeFigures(groups.flat(), reward.of),
          zeroVarianceGroups: zeroVarianceGroups / Math.max(1, groups.length),
        },
        rollouts: learntFrom(credited, item => ({
          ...rolloutRow(step, item, tokens => task.show(tokens)),
          problemId: task.id(item.problem),
          ...judgedFields(task, item),
        })),
      }
    },

    evaluate: besideGreedy(config, ({ evaluation }) => async (step, last) => {
      const { samples, temperature } = evaluation
      const problems = mainTest(task)[1].slice(0, testProblems(config, step, last))
      const io = new StepRollouts(policy, { seed: 'evaluation', step: 0 })
      const groups = await act(io, problems, samples, temperature)
      if (step === 0) refuseUndecided(groups.flat().flatMap(({ grade: { scored } }) => scored ?? []))
      const row = evalRow(task, groups, { step, samples, temperature, of: reward.of })
      const firsts = new Map(groups.flatMap(([first]) => (first ? [[task.id(first.problem), first]] : [])))
      return [
        withSamples(row, id => {
          const first = firsts.get(id)
          return first ? evalSample(task, first, row.primary, reward.of) : null
        }),
      ]
    }),
  }
}

/** What graders said of an episode, for reading. */
const judgedFields = <Problem>(task: ScoredTask<Problem>, { problem, grade: { scored } }: Episode<Problem>) =>
  scored && verdictFields(scored.verdicts, new Map(wordsById(task.rubric(problem).criteria)))

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

/** Figures of a step's episodes; those that failed are in `failedRollouts`. */
const episodeFigures = (
  episodes: readonly Episode<unknown>[],
  of: EnvironmentConfig['reward']['of'],
): Omit<MetricsRow, 'step'> => {
  const alive = episodes.filter(({ rollout }) => rollout.end !== 'failed')
  const outcomes = alive.flatMap(({ grade }) => grade.outcome ?? [])
  const scores = alive.flatMap(({ grade }) => grade.scored?.score ?? [])
  return {
    ...(outcomes.length > 0 && {
      environmentReward: mean(outcomes.map(own => ownReward(own, of))),
      episodesOver: mean(outcomes.map(({ done }) => Number(done))),
      actionFaults: mean(outcomes.map(({ faults }) => faults)),
    }),
    ...(scores.length > 0 && { rubric: mean(scores) }),
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
