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
 * - `ratio`: the two alternatives of appendix C.5. `exploration`: the baselines of its Table 13. `noise`, `reward: random`,
 *   `flipRate`, `pipeline`: experiments and speed.
 */

import { grpoAdvantages, MIN_RANGE } from '../../rl/advantages.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { broadcastAdvantage } from '../../rl/datum.ts'
import { withEntropyBonus } from '../../rl/entropy-bonus.ts'
import { creditOf } from '../../rubric/score.ts'
import { pointShares } from '../../rubric/shares.ts'
import type { MetricGroup, MetricsRow, RolloutRow } from '../../runs/rows.ts'
import type { Recipe } from '../../train/loop.ts'
import type { Group } from '../../train/rollout.ts'
import { GradusError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { mean, std } from '../../util/statistics.ts'
import { rewardOf, type ScoredResponse, satisfaction } from '../checklist/evaluate.ts'
import { keptRollouts } from '../kept-rollouts.ts'
import type { RuscarlConfig } from './config.ts'
import { selectCriteria } from './scaffold.ts'
import { groupRatios, stepRatio } from './schedule.ts'
import { opinionsOn, type SecondOpinion } from './second-opinion.ts'
import type { ScaffoldTask } from './task.ts'

export interface RuscarlParts<Problem> {
  problem(index: number): Problem
  /** The task with the rubrics of training, spoilt ones in a noise experiment. */
  task: ScaffoldTask<Problem>
  evaluate: Recipe<Problem, ScoredResponse>['evaluate']
  /** A second opinion on the rollouts, for the monitors. */
  heldOut?: SecondOpinion<Problem>
  /** Entropies of every token of the rollouts, for the entropy bonus: [problem][sample], nats. */
  entropies(groups: readonly ScoredGroup<Problem>[]): Promise<Float32Array[][]>
  /** What grading took since it was last asked. */
  figures?(): MetricGroup
}

type ScoredGroup<Problem> = Group<Problem, ScoredResponse>

const ones = (length: number) => new Float32Array(length).fill(1)

export const ruscarl = <Problem>(
  config: RuscarlConfig,
  { problem, task, heldOut, evaluate, entropies, figures }: RuscarlParts<Problem>,
): Recipe<Problem, ScoredResponse> => ({
  draw: step =>
    Array.from({ length: config.rollout.prompts }, (_, i) =>
      problem((step - 1) * config.rollout.prompts + i),
    ),

  prompt: each => task.prompt(each),

  samplingPrompts: (step, problems, round) => scaffoldedPrompts(config, task, step, problems, round),

  grade: items =>
    task.grade(items.map(({ problem: own, sample, key }) => ({ problem: own, tokens: sample.tokens, key }))),

  replace: (step, round, groups) => replacements(config, problem, step, round, groups),

  credit: groups => {
    assertJudged(groups)
    const { advantages_P_G, zeroVarianceGroups } = advantagesOf(groups, config.advantage)
    const advantages = groups.map(({ samples }, p) =>
      samples.map(({ tokens }, g) => broadcastAdvantage(advantages_P_G[p][g], ones(tokens.length))),
    )
    const zeroVariance = zeroVarianceGroups / Math.max(1, groups.length)
    const time = figures?.()
    return {
      advantages,
      metrics: {
        ...scoreMetrics(task, groups),
        ...(config.reward === 'rubric' && rewardShares(task, groups)),
        zeroVarianceGroups: zeroVariance,
        ...(time && { time }),
      },
    }
  },

  adjust: async (groups, advantages) => {
    const { entropyBonus } = config.exploration
    if (entropyBonus === null) return advantages
    const entropies_P_G = await entropies(groups)
    return advantages.map((own, p) =>
      own.map((each, g) => withEntropyBonus(each, entropies_P_G[p][g], entropyBonus)),
    )
  },

  record: (step, groups, advantages) =>
    keptRollouts(
      step,
      groups.map(({ grades }) => grades.map(rewardOf)),
    ).map(({ p, g }) => rolloutRow(task, step, groups[p], g, mean(advantages[p][g]))),

  rows: (step, groups, advantages) =>
    groups.map((group, p) =>
      group.samples.map((_, g) => rolloutRow(task, step, group, g, mean(advantages[p][g]))),
    ),

  ...(heldOut && {
    heldOut: (groups: readonly ScoredGroup<Problem>[], step: number) =>
      opinionsOn(heldOut, groups, step, config.seed),
    heldOutFigures: heldOut.figures,
  }),

  evaluate,
})

/**
 * When no judge has a word to say about a whole step, it is out of order: going on would train on nothing.
 * @throws GradusError with the first reason that was given
 */
const assertJudged = (groups: readonly ScoredGroup<unknown>[]): void => {
  const grades = groups.flatMap(group => group.grades)
  const verdicts = grades.flatMap(grade => grade.verdicts.filter(({ source }) => source !== 'rule'))
  const silent = verdicts.length > 0 && verdicts.every(verdict => creditOf(verdict) === null)
  if (!silent && (grades.length === 0 || grades.some(grade => rewardOf(grade) !== null))) return
  const reason = verdicts.find(verdict => creditOf(verdict) === null)?.explanation ?? 'no reason given'
  throw new GradusError(
    `judge: expected verdicts on ${grades.length} rollouts, got none that decides anything (${reason.slice(0, REASON_CHARACTERS)})`,
    { hint: 'see to the judge, then go on with --resume' },
  )
}

const REASON_CHARACTERS = 200

/** Relative to those of the group that were judged; the others have none. */
const advantagesOf = (groups: readonly ScoredGroup<unknown>[], settings: RuscarlConfig['advantage']) => {
  const rewards_P_G = groups.map(({ grades }) => grades.map(rewardOf))
  const judged_P_G = rewards_P_G.map(own => own.filter(reward => reward !== null))
  const { advantages_P_G, zeroVarianceGroups } = grpoAdvantages(judged_P_G, settings)
  const spread = (own: readonly (number | null)[], p: number) => {
    const advantages = advantages_P_G[p].values()
    return own.map(reward => (reward === null ? 0 : advantages.next().value!))
  }
  return { advantages_P_G: rewards_P_G.map(spread), zeroVarianceGroups }
}

/** A prompt for every sample with its own part of the rubric; null when nobody is shown anything, as in groups of one. */
const scaffoldedPrompts = <Problem>(
  { scaffold, rollout, steps, seed }: RuscarlConfig,
  task: ScaffoldTask<Problem>,
  step: number,
  problems: readonly Problem[],
  round = 0,
): TokenIds[][] | null => {
  if (rollout.samples === 1) return null
  const decay = stepRatio(scaffold.decay, step, steps)
  const shares = groupRatios(scaffold.group, rollout.samples).map(share => share * decay)
  let anything = false
  const prompts = problems.map((problem, p) =>
    shares.map((share, g) => {
      const rng = new Rng(`ruscarl scaffold/${seed}/${step}/${p}/${g}${round > 0 ? `/${round}` : ''}`)
      const shown = selectCriteria(task.rubric(problem).criteria, share, rng)
      anything ||= shown.length > 0
      return shown.length > 0 ? task.scaffolded(problem, shown) : task.prompt(problem)
    }),
  )
  return anything ? prompts : null
}

/** Groups whose scores are all equal, and other problems for them: dynamic sampling (DAPO, arXiv 2503.14476 section 3.2). */
const replacements = <Problem>(
  { exploration: { dynamicSampling }, seed }: RuscarlConfig,
  problem: (index: number) => Problem,
  step: number,
  round: number,
  groups: readonly ScoredGroup<Problem>[],
) => {
  if (dynamicSampling === null || round > dynamicSampling.rounds) return null
  const equal = groups.flatMap(({ grades }, p) => {
    const rewards = rewardsOf(grades)
    return rewards.length < 2 || Math.max(...rewards) - Math.min(...rewards) < MIN_RANGE ? [p] : []
  })
  const rng = new Rng(`ruscarl further problems/${seed}/${step}/${round}`)
  return { rejected: equal, problems: equal.map(() => problem(rng.int(FURTHER))) }
}

/** Problems of later passes are as good as any; a bound keeps the passes few that are shuffled for it. */
const FURTHER = 1 << 16

/** Of those that were judged. */
const rewardsOf = (grades: readonly ScoredResponse[]): number[] =>
  grades.map(rewardOf).filter(reward => reward !== null)

/** The score over all samples, over those that saw nothing, and over those that saw the whole rubric. */
const scoreMetrics = <Problem>(
  task: ScaffoldTask<Problem>,
  groups: readonly ScoredGroup<Problem>[],
): Omit<MetricsRow, 'step'> => {
  const all = groups.flatMap(group => {
    const { grades, samples, promptTokens, sampledPrompts } = group
    const hints = grades.map(
      (_, g) => (sampledPrompts?.[g].length ?? promptTokens.length) - promptTokens.length,
    )
    const whole = hints.some(hint => hint > 0) ? wholeHint(task, group) : null
    return grades.map((grade, g) => ({
      grade,
      tokens: samples[g].tokens,
      hint: hints[g],
      whole: hints[g] === whole,
    }))
  })
  const responses = all.map(({ grade }) => grade)
  const rewards = rewardsOf(responses)
  const meanReward = (own: typeof all) => {
    const paid = rewardsOf(own.map(({ grade }) => grade))
    return paid.length > 0 ? mean(paid) : null
  }
  return {
    reward: mean(rewards),
    rewardStd: std(rewards),
    rewardPlain: meanReward(all.filter(({ hint }) => hint === 0)),
    rewardFullScaffold: meanReward(all.filter(({ whole }) => whole)),
    scaffoldTokens: mean(all.map(({ hint }) => hint)),
    criteria: satisfaction(responses),
    wellFormed: mean(responses.map(({ wellFormed }) => Number(wellFormed))),
    ...nullRates(task, groups),
    unscored: mean(responses.map(({ score }) => Number(score === null))),
    leakRate: task.leaks ? mean(all.map(({ tokens }) => Number(task.leaks!(tokens)))) : null,
  }
}

/** Tokens that the whole rubric of a group adds to its prompt. */
const wholeHint = <Problem>(
  task: ScaffoldTask<Problem>,
  { problem, promptTokens }: Pick<ScoredGroup<Problem>, 'problem' | 'promptTokens'>,
): number => task.scaffolded(problem, task.rubric(problem).criteria).length - promptTokens.length

/** Where the points come from that the rewards are made of. */
const rewardShares = <Problem>(
  task: ScaffoldTask<Problem>,
  groups: readonly ScoredGroup<Problem>[],
): Omit<MetricsRow, 'step'> => {
  const judged = groups.flatMap(({ problem, grades }) =>
    grades.map(({ verdicts, kinds }) => ({ rubric: task.rubric(problem), verdicts, kinds })),
  )
  const shares = pointShares(judged)
  return shares ? { rewardShare: shares.earned, pointShare: shares.toBeHad } : {}
}

/** Share of verdicts that the graders failed to give, in all and by the sign of the points (spec 1.5). */
const nullRates = <Problem>(task: ScaffoldTask<Problem>, groups: readonly ScoredGroup<Problem>[]) => {
  const nulls = { positive: [] as number[], negative: [] as number[] }
  for (const { problem, grades } of groups) {
    const points = new Map(task.rubric(problem).criteria.map(criterion => [criterion.id, criterion.points]))
    for (const verdict of grades.flatMap(({ verdicts }) => verdicts))
      nulls[points.get(verdict.criterionId)! > 0 ? 'positive' : 'negative'].push(
        Number(creditOf(verdict) === null),
      )
  }
  const rate = (values: readonly number[]) => (values.length > 0 ? mean(values) : 0)
  return {
    judgeNullRate: rate([...nulls.positive, ...nulls.negative]),
    judgeNullRatePositive: rate(nulls.positive),
    judgeNullRateNegative: rate(nulls.negative),
  }
}

const rolloutRow = <Problem>(
  task: ScaffoldTask<Problem>,
  step: number,
  { problem, samples, grades, promptTokens, sampledPrompts }: ScoredGroup<Problem>,
  g: number,
  advantage: number,
): RolloutRow => {
  const { verdicts } = grades[g]
  const reward = rewardOf(grades[g])
  const { tokens, finishReason } = samples[g]
  const flags = { ...(task.leaks?.(tokens) && { leak: 1 }), ...(reward === null && { unjudged: 1 }) }
  return {
    step,
    problemId: task.name(problem),
    sample: g,
    prompt: task.show(sampledPrompts?.[g] ?? promptTokens),
    response: task.show(tokens),
    reward,
    ...(tokens.length > 0 && { advantage }),
    finishReason,
    tokens: tokens.length,
    ...(Object.keys(flags).length > 0 && { flags }),
    verdicts: verdicts.map(({ criterionId, met, credit, explanation }) => ({
      criterionId,
      met,
      ...(credit !== undefined && { credit }),
      ...(explanation !== undefined && { explanation }),
    })),
  }
}
