/**
 * @file Rubric as Reward (ICLR 2026 workshop): five weighted criteria from formally checked to soft, as the reward of GRPO.
 *
 * Departures from the paper, each a setting:
 * - Step grammar, C4/C5 heuristics and the value of the KL coefficient are not in the paper; ours are in spec form in
 *   docs/recipes/rubric-as-reward.md.
 * - Evaluation judges C4 and C5 by proof (support sets, entailment) instead of asking a language model.
 * - Conditions `rubric_norm`, `flat_equal`, `flat_same` and `proof`, per-step credit, and rejection sampling are ours.
 * - Small models read word-level tokens instead of a chat template.
 */

import type { LogicGrade, StepGrade } from '../../grade/logic/criteria.ts'
import { LOGIC_CRITERIA, LOGIC_RUBRIC, type LogicCriterion, logicVerdicts } from '../../grade/logic/rubric.ts'
import { SolverError } from '../../grade/logic/solver-process.ts'
import { stepAdvantages } from '../../rl/advantages.ts'
import { broadcastAdvantage, stepwiseCredit } from '../../rl/datum.ts'
import { pointShares } from '../../rubric/shares.ts'
import type { MetricsRow, RolloutRow } from '../../runs/rows.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import type { Recipe } from '../../train/loop.ts'
import type { Group } from '../../train/rollout.ts'
import type { TokenAdvantages } from '../../train/update.ts'
import { mean, std } from '../../util/statistics.ts'
import { keptRollouts } from '../kept-rollouts.ts'
import { type LogicFormat, type ResponseText, tokensOfSpan } from '../logic/format.ts'
import type { RubricAsRewardConfig } from './config.ts'
import type { TrainingGrade } from './controls.ts'
import { conditionWeights, rolloutAdvantages, type Scored, type Weights } from './rewards.ts'

/** A rollout's grade, and the one that training goes by, with the text they were read from. */
export interface Graded extends TrainingGrade {
  response: ResponseText
}

export type LogicGroup = Group<LogicTaskExample, Graded>

/** What the recipe works with, made once per run. */
export interface RecipeParts {
  problems: (index: number) => LogicTaskExample
  format: LogicFormat
  grade: (items: readonly { problem: LogicTaskExample; response: string }[]) => Promise<TrainingGrade[]>
  evaluate: Recipe<LogicTaskExample, Graded>['evaluate']
}

export const rubricAsReward = (
  config: RubricAsRewardConfig,
  { problems, format, grade, evaluate }: RecipeParts,
): Recipe<LogicTaskExample, Graded> => ({
  draw: step =>
    Array.from({ length: config.rollout.prompts }, (_, i) =>
      problems((step - 1) * config.rollout.prompts + i),
    ),

  prompt: problem => format.prompt(problem),

  grade: async items => {
    const responses = items.map(({ sample }) => format.read(sample.tokens))
    const grades = await grade(items.map(({ problem }, i) => ({ problem, response: responses[i].text })))
    return grades.map((result, i) => ({ ...result, response: responses[i] }))
  },

  credit: groups => {
    assertSolverWorks(groups)
    const weights = config.weights ?? conditionWeights(config.condition)
    const scored_P_G = groups.map(({ grades }) => grades.map(({ rewarded }) => scoredOf(rewarded)))
    const { advantages_P_G, rewards_P_G, zeroVariance } = rolloutAdvantages(
      scored_P_G,
      config.condition,
      weights,
      config.advantage,
    )
    const advantages =
      config.method === 'rejection'
        ? acceptValid(groups)
        : config.credit === 'per-step'
          ? creditSteps(groups, advantages_P_G, config)
          : creditRollouts(groups, advantages_P_G)
    return {
      advantages,
      metrics: {
        ...gradeMetrics(groups, rewards_P_G),
        ...rewardShares(groups, weights),
        zeroVarianceGroups: zeroVariance,
      },
    }
  },

  record: (step, groups, advantages) => {
    const rewards_P_G = rewardsOf(groups, config)
    return keptRollouts(step, rewards_P_G).map(({ p, g }) =>
      rolloutRow(step, groups[p], g, rewards_P_G[p][g], mean(advantages[p][g]), format),
    )
  },

  rows: (step, groups, advantages) => {
    const rewards_P_G = rewardsOf(groups, config)
    return groups.map((group, p) =>
      group.samples.map((_, g) =>
        rolloutRow(step, group, g, rewards_P_G[p][g], mean(advantages[p][g]), format),
      ),
    )
  },

  // Whole proofs that hold are what every condition hopes for; `proof` pays for them, unless a control pays for something else.
  ...((config.condition !== 'proof' || config.control !== undefined) && { heldOut: provedOf }),

  evaluate,
})

/** An excluded item has no C2; what stands for it here counts nowhere. */
const scoredOf = ({ criteria, correctAndProved, excluded }: LogicGrade): Scored => ({
  scores: Object.fromEntries(LOGIC_CRITERIA.map(id => [id, criteria[id] ?? 0])) as Record<
    LogicCriterion,
    number
  >,
  correctAndProved,
  excluded: excluded !== null,
})

/** @throws SolverError when nothing of a step could be judged: going on would train on nothing. */
const assertSolverWorks = (groups: readonly LogicGroup[]): void => {
  const grades = groups.flatMap(group => group.grades.map(({ rewarded }) => rewarded))
  if (grades.length > 0 && grades.every(({ excluded }) => excluded === 'solver-failed'))
    throw new SolverError(`the solver failed on every one of ${grades.length} rollouts`, {
      hint: 'go on with --resume; if it happens again, check the memory that is left',
    })
}

const ones = (length: number) => new Float32Array(length).fill(1)

/** The paper's scalar credit: every token of a rollout carries its advantage. */
const creditRollouts = (
  groups: readonly LogicGroup[],
  advantages_P_G: readonly (readonly number[])[],
): TokenAdvantages =>
  groups.map(({ samples }, p) =>
    samples.map((sample, g) => broadcastAdvantage(advantages_P_G[p][g], ones(sample.tokens.length))),
  )

/** Each step's tokens carry the step's own verdict, normalised over all steps of the group, beside the rollout's advantage. */
const creditSteps = (
  groups: readonly LogicGroup[],
  advantages_P_G: readonly (readonly number[])[],
  config: RubricAsRewardConfig,
): TokenAdvantages => {
  const verdicts_P_G_S = groups.map(({ grades }) =>
    grades.map(({ grade }) => (grade.excluded === null ? grade.steps.map(stepVerdict) : [])),
  )
  const steps_P_G_S = stepAdvantages(verdicts_P_G_S, config.advantage)
  return groups.map(({ samples, grades }, p) =>
    samples.map((sample, g) => {
      const rollout = advantages_P_G[p][g]
      const { grade, response } = grades[g]
      if (grade.excluded !== null) return new Float32Array(sample.tokens.length)
      const placed = grade.steps.flatMap((step, s) => {
        const span = tokensOfSpan(response, ...step.span)
        return span ? [{ span, advantage: rollout + config.stepWeight * steps_P_G_S[p][g][s] }] : []
      })
      return stepwiseCredit(
        placed.map(({ span }) => span),
        placed.map(({ advantage }) => advantage),
        ones(sample.tokens.length),
        rollout,
      )
    }),
  )
}

/** The step's graded credit; a repeated step, or an entailed one asserted over the heads of steps between, earns nothing. */
const stepVerdict = ({ credit, repeated, supported, status }: StepGrade): number =>
  repeated || (supported === false && status === 'entailed') ? 0 : (credit ?? 0)

/** Rejection sampling: learn the rollouts that are correct and proved, leave out the others. */
const acceptValid = (groups: readonly LogicGroup[]): TokenAdvantages =>
  groups.map(({ samples, grades }) =>
    samples.map((sample, g) => {
      const { excluded, correctAndProved } = grades[g].rewarded
      return broadcastAdvantage(excluded === null && correctAndProved ? 1 : 0, ones(sample.tokens.length))
    }),
  )

const averageFlags = (grades: readonly LogicGrade[]): Record<string, number> =>
  Object.fromEntries(
    Object.keys(grades[0]?.flags ?? {}).map(name => [name, mean(grades.map(g => g.flags[name]))]),
  )

/** Whether a rollout's proof holds from end to end; null where nothing can be said of it. */
const provedOf = (groups: readonly LogicGroup[]): (number | null)[][] =>
  groups.map(({ grades }) =>
    grades.map(({ grade }) => (grade.excluded === null ? Number(grade.correctAndProved) : null)),
  )

/** Where the weighted sum comes from; nothing where the reward is none, or nothing was earned. */
const rewardShares = (groups: readonly LogicGroup[], weights: Weights): Omit<MetricsRow, 'step'> => {
  const judged = groups.flatMap(({ grades }) =>
    grades.flatMap(({ rewarded }) =>
      rewarded.excluded === null ? [{ rubric: LOGIC_RUBRIC, verdicts: logicVerdicts(rewarded) }] : [],
    ),
  )
  const shares = pointShares(judged, weights)
  return shares ? { rewardShare: shares.earned, pointShare: shares.toBeHad } : {}
}

/** What the means leave out, as shares of all rollouts. */
const excludedShares = (grades: readonly LogicGrade[]): Record<string, number> => ({
  solverFailed: mean(grades.map(({ excluded }) => Number(excluded === 'solver-failed'))),
  faultyProblem: mean(grades.map(({ excluded }) => Number(excluded === 'inconsistent-premises'))),
})

/** Criteria and flags are those that training goes by; answers and proofs are judged as they are, also under a control. */
const gradeMetrics = (
  groups: readonly LogicGroup[],
  rewards_P_G: readonly (readonly (number | null)[])[],
): Omit<MetricsRow, 'step'> => {
  const all = groups.flatMap(({ grades }, p) =>
    grades.map(({ rewarded }, g) => ({ rewarded, reward: rewards_P_G[p][g] })),
  )
  const judged = all.filter(({ rewarded }) => rewarded.excluded === null)
  const grades = judged.map(({ rewarded }) => rewarded)
  const rewards = judged.flatMap(({ reward }) => reward ?? [])
  const truths = groups.flatMap(group =>
    group.grades.flatMap(({ grade }) => (grade.excluded === null ? [grade] : [])),
  )
  const average = (of: readonly LogicGrade[], pick: (grade: LogicGrade) => number) =>
    of.length > 0 ? mean(of.map(pick)) : null
  return {
    reward: rewards.length > 0 ? mean(rewards) : null,
    rewardStd: rewards.length > 0 ? std(rewards) : null,
    correctAndValid: average(truths, g => Number(g.correctAndValid)),
    correctAndProved: average(truths, g => Number(g.correctAndProved)),
    accuracy: average(truths, g => Number(g.answerCorrect)),
    criteria: Object.fromEntries(LOGIC_CRITERIA.map(id => [id, average(grades, g => g.criteria[id] ?? 0)])),
    reasoningSteps: average(truths, g => g.steps.length),
    answered: average(truths, g => Number(g.answer !== null)),
    exploits: { ...averageFlags(grades), ...excludedShares(all.map(({ rewarded }) => rewarded)) },
  }
}

const rewardsOf = (groups: readonly LogicGroup[], { condition, weights, advantage }: RubricAsRewardConfig) =>
  rolloutAdvantages(
    groups.map(({ grades }) => grades.map(({ rewarded }) => scoredOf(rewarded))),
    condition,
    weights ?? conditionWeights(condition),
    advantage,
  ).rewards_P_G

const rolloutRow = (
  step: number,
  { problem, samples, grades }: LogicGroup,
  g: number,
  reward: number | null,
  advantage: number,
  format: LogicFormat,
): RolloutRow => {
  const { grade, rewarded, response } = grades[g]
  return {
    step,
    problemId: problem.id,
    sample: g,
    prompt: format.show(problem),
    response: response.text,
    reward,
    ...(samples[g].tokens.length > 0 && { advantage }),
    answer: grade.answer,
    gold: problem.label,
    correct: grade.answerCorrect,
    ...(grade.excluded === null && { valid: grade.correctAndValid, proved: grade.correctAndProved }),
    finishReason: samples[g].finishReason,
    tokens: samples[g].tokens.length,
    parts: rewarded.criteria,
    flags: rewarded.flags,
    verdicts: logicVerdicts(rewarded),
    steps: grade.steps.map(({ text, status, credit, premise, tautology, repeated, supported }) => ({
      text,
      status,
      ...(credit !== null && { credit }),
      flags: [
        ...(premise === null ? [] : ['premise']),
        ...(tautology ? ['tautology'] : []),
        ...(repeated ? ['repeat'] : []),
        ...(supported === false && status === 'entailed' ? ['skips'] : []),
      ],
    })),
  }
}
