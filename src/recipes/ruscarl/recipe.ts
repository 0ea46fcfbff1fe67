/**
 * @file RuscaRL (arXiv 2508.16949): rubrics as scaffolding in the prompt while exploring, and as rewards; GRPO.
 *
 * 1. Each of the G samples of a prompt is shown its own random part of the rubric: all of it for the first, nothing for the
 *    last (the group's ladder), and less and less as the steps go on (the decay).
 * 2. Every finished response is graded, criterion by criterion, while the others are still being sampled.
 * 3. The reward is the signed sum of points over the positive points; advantages are relative to the group.
 * 4. The update is about the plain prompt: old and new log-probs are computed without the scaffold.
 *
 * Departures from the paper, each a setting:
 * - The printed loss averages over sequences, its code over tokens: tokens here (loss `gradus:ruscarl`).
 * - The paper's code divides by the sample standard deviation; ours by the population's unless `advantage.ddof` is 1.
 * - `ratio`: the two alternatives of appendix C.5. `noise`, `reward: random`, `flipRate`, `pipeline`: experiments and speed.
 */

import { grpoAdvantages } from '../../rl/advantages.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { broadcastAdvantage } from '../../rl/datum.ts'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import type { MetricsRow, RolloutRow } from '../../runs/rows.ts'
import type { Recipe } from '../../train/loop.ts'
import type { Group } from '../../train/rollout.ts'
import { Rng } from '../../util/rng.ts'
import { mean, std } from '../../util/statistics.ts'
import { nullRate, type ScoredResponse, type ScoreTask, satisfaction } from '../checklist/evaluate.ts'
import type { RuscarlConfig } from './config.ts'
import { selectCriteria } from './scaffold.ts'
import { groupRatios, stepRatio } from './schedule.ts'

/** A task with rubrics that can be shown. */
export interface ScaffoldTask<Problem> extends ScoreTask<Problem> {
  rubric(problem: Problem): Rubric
  /** The prompt with these criteria shown; the plain prompt when there are none. */
  scaffolded(problem: Problem, shown: readonly Criterion[]): TokenIds
  show(tokens: ArrayLike<number>): string
  /** Whether a response speaks of the scaffold instead of following it; absent where it cannot. */
  leaks?(tokens: Int32Array): boolean
}

export interface RuscarlParts<Problem> {
  problem(index: number): Problem
  /** The task with the rubrics of training, spoilt ones in a noise experiment. */
  task: ScaffoldTask<Problem>
  evaluate: Recipe<Problem, ScoredResponse>['evaluate']
}

type ScoredGroup<Problem> = Group<Problem, ScoredResponse>

const ones = (length: number) => new Float32Array(length).fill(1)

export const ruscarl = <Problem>(
  config: RuscarlConfig,
  { problem, task, evaluate }: RuscarlParts<Problem>,
): Recipe<Problem, ScoredResponse> => ({
  draw: step =>
    Array.from({ length: config.rollout.prompts }, (_, i) =>
      problem((step - 1) * config.rollout.prompts + i),
    ),

  prompt: each => task.prompt(each),

  samplingPrompts: (step, problems) => scaffoldedPrompts(config, task, step, problems),

  grade: items =>
    task.grade(items.map(({ problem: own, sample }) => ({ problem: own, tokens: sample.tokens }))),

  credit: groups => {
    const rewards_P_G = groups.map(({ grades }) => grades.map(({ score }) => score ?? 0))
    const { advantages_P_G, zeroVarianceGroups } = grpoAdvantages(rewards_P_G, config.advantage)
    const advantages = groups.map(({ samples }, p) =>
      samples.map(({ tokens }, g) => broadcastAdvantage(advantages_P_G[p][g], ones(tokens.length))),
    )
    const zeroVariance = zeroVarianceGroups / Math.max(1, groups.length)
    return { advantages, metrics: { ...scoreMetrics(task, groups), zeroVarianceGroups: zeroVariance } }
  },

  record: (step, groups, advantages) =>
    recorded(groups, step).map(({ p, g }) => rolloutRow(task, step, groups[p], g, mean(advantages[p][g]))),

  evaluate,
})

/** A prompt for every sample with its own part of the rubric; null when nobody is shown anything. */
const scaffoldedPrompts = <Problem>(
  { scaffold, rollout, steps, seed }: RuscarlConfig,
  task: ScaffoldTask<Problem>,
  step: number,
  problems: readonly Problem[],
): TokenIds[][] | null => {
  const decay = stepRatio(scaffold.decay, step, steps)
  const shares = groupRatios(scaffold.group, rollout.samples).map(share => share * decay)
  let anything = false
  const prompts = problems.map((problem, p) =>
    shares.map((share, g) => {
      const rng = new Rng(`ruscarl scaffold/${seed}/${step}/${p}/${g}`)
      const shown = selectCriteria(task.rubric(problem).criteria, share, rng)
      anything ||= shown.length > 0
      return shown.length > 0 ? task.scaffolded(problem, shown) : task.prompt(problem)
    }),
  )
  return anything ? prompts : null
}

/** The score over all samples, over those that saw nothing, and over those that saw the whole rubric. */
const scoreMetrics = <Problem>(
  task: ScaffoldTask<Problem>,
  groups: readonly ScoredGroup<Problem>[],
): Omit<MetricsRow, 'step'> => {
  const all = groups.flatMap(({ grades, samples, promptTokens, sampledPrompts }) =>
    grades.map((grade, g) => ({
      grade,
      tokens: samples[g].tokens,
      hint: (sampledPrompts?.[g].length ?? promptTokens.length) - promptTokens.length,
    })),
  )
  const scores = all.map(({ grade }) => grade.score ?? 0)
  const meanScore = (own: typeof all) =>
    own.length > 0 ? mean(own.map(({ grade }) => grade.score ?? 0)) : null
  const longest = Math.max(...all.map(({ hint }) => hint))
  const responses = all.map(({ grade }) => grade)
  return {
    reward: mean(scores),
    rewardStd: std(scores),
    rewardPlain: meanScore(all.filter(({ hint }) => hint === 0)),
    rewardFullScaffold: longest > 0 ? meanScore(all.filter(({ hint }) => hint === longest)) : null,
    scaffoldTokens: mean(all.map(({ hint }) => hint)),
    criteria: satisfaction(responses),
    wellFormed: mean(responses.map(({ wellFormed }) => Number(wellFormed))),
    judgeNullRate: nullRate(responses),
    unscored: mean(responses.map(({ score }) => Number(score === null))),
    leakRate: task.leaks ? mean(all.map(({ tokens }) => Number(task.leaks!(tokens)))) : null,
  }
}

/** The best, the worst and one of the latest rollouts of a step. */
const recorded = <Problem>(groups: readonly ScoredGroup<Problem>[], step: number) => {
  const all = groups.flatMap(({ grades }, p) => grades.map(({ score }, g) => ({ p, g, score: score ?? 0 })))
  const sorted = [...all].sort((a, b) => b.score - a.score)
  return [sorted[0], sorted[sorted.length - 1], all[step % all.length]]
}

const rolloutRow = <Problem>(
  task: ScaffoldTask<Problem>,
  step: number,
  { problem, samples, grades, promptTokens, sampledPrompts }: ScoredGroup<Problem>,
  g: number,
  advantage: number,
): RolloutRow => {
  const { score, verdicts } = grades[g]
  const { tokens, finishReason } = samples[g]
  return {
    step,
    problemId: task.name(problem),
    sample: g,
    prompt: task.show(sampledPrompts?.[g] ?? promptTokens),
    response: task.show(tokens),
    reward: score ?? 0,
    advantage,
    finishReason,
    tokens: tokens.length,
    verdicts: verdicts.map(({ criterionId, met, credit, explanation }) => ({
      criterionId,
      met,
      ...(credit !== undefined && { credit }),
      ...(explanation !== undefined && { explanation }),
    })),
  }
}
