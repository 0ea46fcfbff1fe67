/**
 * @file Reinforcement in an environment, by its own reward and a rubric: GRPO over episodes.
 *
 * 1. Each of the G samples of a problem acts in an episode of its own; all begin alike.
 * 2. What the environment says is context for what follows: it has mask 0, and no loss falls on it.
 * 3. The reward is the environment's own, and the score by the rubric, each by its weight; advantages are relative to the group
 *    and the same for every token that the policy wrote.
 */

import type { Grader } from '../../grade/grader.ts'
import type { Policy } from '../../policy/policy.ts'
import { grpoAdvantages } from '../../rl/advantages.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { advantagesOf, creditRollouts, datumsOf, type Graded, type Rollout } from '../../rl/rollout.ts'
import { signedScore } from '../../rubric/index.ts'
import { withSamples } from '../../runs/eval-samples.ts'
import type { EvalItem, EvalRow, EvalSample, MetricsRow } from '../../runs/rows.ts'
import { lacksVerdicts, type ScoringRule } from '../../tasks/scored-response.ts'
import type { GradeItem } from '../../train/grading.ts'
import { rewardFigures, rolloutRow, spokenTurns } from '../../train/lesson-rows.ts'
import { learntFrom, type Recipe } from '../../train/recipe.ts'
import { type Io, StepRollouts } from '../../train/rollout.ts'
import { mean } from '../../util/statistics.ts'
import { besideGreedy } from '../common/greedy.ts'
import { scoresOf } from '../common/item-scores.ts'
import type { ProblemStream } from '../common/problem-order.ts'
import { testProblems } from '../common/test-problems.ts'
import { phaseOf, samplingOf } from '../common/training.ts'
import { refuseUndecided } from '../common/undecided.ts'
import { verdictFields, wordsById } from '../common/verdict-rows.ts'
import type { EnvironmentConfig } from './config.ts'
import type { Kit } from './kit.ts'
import { type EpisodeGrade, episodeReward, ownReward } from './rewards.ts'

export interface EnvironmentParts<Problem> {
  policy: Policy
  problem: ProblemStream<Problem>
  kit: Kit<Problem>
  grader: Grader
  /** What judging took since it was last asked. */
  figures?(): NonNullable<MetricsRow['time']>
}

type Episode<Problem> = Graded<Problem, EpisodeGrade>

const score: ScoringRule = (rubric, verdicts) => signedScore(rubric, verdicts).score

export const environmentRecipe = <Problem>(
  config: EnvironmentConfig,
  { policy, problem, kit, grader, figures }: EnvironmentParts<Problem>,
): Recipe<Episode<Problem>[][]> => {
  const { rollout, reward } = config

  const scoredBy = async (own: Problem, acted: Rollout) => {
    const rubric = kit.rubric(own)
    if (rubric === null) return null
    const item = {
      ...{ id: kit.name(own), prompt: [{ role: 'user' as const, content: kit.question(own) }] },
      response: kit.response(acted),
      ...(kit.reference?.(own) !== undefined && { reference: kit.reference(own) }),
    }
    const verdicts = await grader.grade(item, rubric.criteria)
    const worth = score(rubric, verdicts)
    return {
      verdicts,
      score: worth,
      ...(worth === null && { unjudged: lacksVerdicts(score, rubric, verdicts) }),
    }
  }

  const grade = (items: readonly GradeItem<Problem>[]): Promise<EpisodeGrade[]> =>
    Promise.all(
      items.map(async ({ problem: own, rollout: acted }) => ({
        outcome: kit.outcome(acted.key),
        scored: acted.end === 'failed' ? null : await scoredBy(own, acted),
      })),
    )

  const act = (io: Io, problems: readonly Problem[], samples: number, temperature: number, last = false) =>
    io.rollOut<Problem, EpisodeGrade>({
      ...{ problems, samples, last, grade, gradeBatch: 1 },
      prompt: own => kit.prompt(own),
      sampling: { ...samplingOf(config, kit.stopTokens), temperature, stopStrings: kit.stopStrings },
      environment: { world: kit.world, limits: kit.limits },
      reward: own => episodeReward(own, reward),
    })

  return {
    rollOut(step, io) {
      const from = (step - 1) * rollout.prompts
      const problems = Array.from({ length: rollout.prompts }, (_, i) => problem(from + i))
      return act(io, problems, rollout.samples, rollout.temperature, true)
    },

    async learn(step, groups) {
      const { advantages_P_G, zeroVarianceGroups } = advantagesOf(groups, known =>
        grpoAdvantages(known, config.advantage),
      )
      const credited = creditRollouts(groups, advantages_P_G)
      const time = figures?.()
      return {
        phases: [phaseOf(config, datumsOf(credited, config))],
        metrics: {
          ...rewardFigures(groups),
          ...episodeFigures(groups.flat(), reward.of),
          zeroVarianceGroups: zeroVarianceGroups / Math.max(1, groups.length),
          ...(time && { time }),
        },
        rollouts: learntFrom(credited, item => ({
          ...rolloutRow(step, item, tokens => kit.show(tokens)),
          problemId: kit.name(item.problem),
          ...judgedFields(kit, item),
        })),
      }
    },

    evaluate: besideGreedy(config, ({ evaluation }) => async (step, last) => {
      const { samples, temperature } = evaluation
      const problems = kit.test.slice(0, testProblems(config, step, last))
      const io = new StepRollouts(policy, { seed: 'evaluation', step: 0 })
      const groups = await act(io, problems, samples, temperature)
      if (step === 0) refuseUndecided(groups.flat().flatMap(({ grade: { scored } }) => scored ?? []))
      const row = evalRow(kit, groups, { step, samples, temperature, of: reward.of })
      const firsts = new Map(groups.flatMap(([first]) => (first ? [[kit.name(first.problem), first]] : [])))
      return [
        withSamples(row, id => {
          const first = firsts.get(id)
          return first ? evalSample(kit, first, row.primary, reward.of) : null
        }),
      ]
    }),
  }
}

/** What graders said of an episode, for reading. */
const judgedFields = <Problem>(kit: Kit<Problem>, { problem, grade: { scored } }: Episode<Problem>) =>
  scored && verdictFields(scored.verdicts, new Map(wordsById(kit.rubric(problem)?.criteria ?? [])))

/** An episode of an evaluation, for reading. */
const evalSample = <Problem>(
  kit: Kit<Problem>,
  episode: Episode<Problem>,
  primary: string,
  of: EnvironmentConfig['reward']['of'],
): EvalSample => {
  const { problem, rollout } = episode
  const { [primary]: score = null, over: _, failed: __, ...parts } = episodeScores([episode], of)
  const show = (tokens: TokenIds) => kit.show(tokens)
  return {
    prompt: show(kit.prompt(problem)),
    response: show(rollout.tokens),
    ...(rollout.turns.length > 1 && { turns: spokenTurns(rollout, show) }),
    // What training pays is weighted, and no part of the mean.
    reward: score,
    ...(Object.keys(parts).length > 0 && { parts }),
    tokens: rollout.tokens.length,
    finishReason: rollout.end,
    ...judgedFields(kit, episode),
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
  kit: Kit<Problem>,
  groups: readonly (readonly Episode<Problem>[])[],
  { step, samples, temperature, of }: EvalSettings,
): EvalRow => {
  const items = groups.map(
    (group, p): EvalItem => ({
      id: kit.name(group[0]?.problem ?? kit.test[p]),
      scores: episodeScores(group, of),
    }),
  )
  const names = [...new Set(items.flatMap(({ scores }) => Object.keys(scores)))]
  return {
    ...{ step, set: kit.testName, n: items.length, samples, temperature },
    scores: scoresOf(items, names),
    primary: ['environment', 'rubric'].find(name => names.includes(name)) ?? 'failed',
    scoreNames: SCORE_NAMES,
    responseTokens: mean(groups.flat().map(({ rollout: { tokens } }) => tokens.length)),
    items,
  }
}
