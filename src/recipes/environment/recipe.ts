/**
 * @file Reinforcement in an environment, by its own reward and a rubric: GRPO over episodes.
 *
 * 1. Each of the G samples of a problem acts in an episode of its own; all begin alike.
 * 2. What the environment says is context for what follows: it has mask 0, and no loss falls on it.
 * 3. The reward is the environment's own, and the score by the rubric, each by its weight; advantages are relative to the group
 *    and the same for every token that the policy wrote.
 */

import type { Policy } from '../../policy/policy.ts'
import { datumsOf } from '../../rl/rollout.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import type { ScoredTask } from '../../tasks/scored-response.ts'
import { mainTest, type Task } from '../../tasks/task.ts'
import type { AnsweredItem } from '../../train/grading.ts'
import { learntFrom, type Recipe } from '../../train/recipe.ts'
import { type StepIo, StepRollouts } from '../../train/rollout.ts'
import { rewardMetrics, rolloutRow } from '../../train/update-rows.ts'
import { mean } from '../../util/statistics.ts'
import { besideGreedy } from '../common/evaluation.ts'
import { testProblems } from '../common/evaluation-config.ts'
import { problemsIn, problemsOf } from '../common/problem-order.ts'
import { grpoCredit, phaseOf, samplingOf } from '../common/training.ts'
import type { EnvironmentConfig } from './config.ts'
import {
  type EpisodeGrade,
  episodeReward,
  episodesRow,
  episodeVerdictFields,
  type GradedEpisode,
  ownReward,
} from './evaluation.ts'

export interface EnvironmentParts<Problem> {
  policy: Policy
  task: ActedTask<Problem>
}

/** A task that is acted in, scored. */
type ActedTask<Problem> = ScoredTask<Problem> & Required<Pick<Task<Problem>, 'world'>>

export const environmentRecipe = <Problem>(
  config: EnvironmentConfig,
  { policy, task }: EnvironmentParts<Problem>,
): Recipe<GradedEpisode<Problem>[][]> => {
  const { rollout, reward } = config
  const { environment, limits, stopStrings, outcome } = task.world
  const problem = problemsOf(task, config.seed)

  const grade = async (items: readonly AnsweredItem<Problem>[]): Promise<EpisodeGrade[]> => {
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

  const act = (
    io: StepIo,
    problems: readonly Problem[],
    samples: number,
    temperature: number,
    last = false,
  ) =>
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
      const { credited, zeroVarianceGroups } = grpoCredit(groups, config)
      return {
        phases: [phaseOf(config, datumsOf(credited, config))],
        metrics: {
          ...rewardMetrics(groups),
          ...episodeMetrics(groups.flat(), reward.of),
          zeroVarianceGroups,
        },
        rollouts: learntFrom(credited, item => ({
          ...rolloutRow(step, item, tokens => task.show(tokens)),
          problemId: task.id(item.problem),
          ...episodeVerdictFields(task, item),
        })),
      }
    },

    evaluate: besideGreedy(config, ({ evaluation }) => async (step, last) => {
      const { samples, temperature } = evaluation
      const problems = mainTest(task)[1].slice(0, testProblems(config, step, last))
      const io = new StepRollouts(policy, { seed: 'evaluation', step: 0 })
      const groups = await act(io, problems, samples, temperature)
      return [episodesRow(task, groups, reward.of, { step, samples, temperature })]
    }),
  }
}

/** Metrics of a step's episodes; those that failed are in `failedRollouts`. */
const episodeMetrics = (
  episodes: readonly GradedEpisode<unknown>[],
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
