/** @file Credit by stage (RubricEM's SS-GRPO): rewards of stages become returns, advantages, and those a token each. */

import { z } from 'zod'
import { mean, std } from '../util/descriptive.ts'
import { ConfigError, DataError, NumericError, ShapeError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { type GrpoOptions, hasNoRange } from './advantages.ts'
import { broadcastAdvantage } from './datum.ts'
import type { Credited, Graded, Groups } from './rollout.ts'

/** Weights of the reward of stage j in the return of stage k: [k][j], ones on the diagonal, zeros below it. */
export type StageWeights = readonly (readonly number[])[]

/** Plan, research, review, answer. */
export const DEFAULT_LAMBDA: StageWeights = [
  [1, 0.4, 0.6, 0.8],
  [0, 1, 0.4, 0.8],
  [0, 0, 1, 0.8],
  [0, 0, 0, 1],
]

/** A matrix of stage weights as configuration files write it: one row a stage. */
export const lambdaSchema = z
  .array(z.array(z.number().min(0).max(1)))
  .min(1)
  .superRefine((rows, context) => {
    const issue = (path: number[], message: string) => context.addIssue({ code: 'custom', path, message })
    for (const [k, row] of rows.entries()) {
      if (row.length !== rows.length)
        issue([k], `${rows.length} weights, one a stage; make the matrix as wide as it is high`)
      for (const [j, weight] of row.entries()) {
        if (j === k && weight !== 1) issue([k, j], '1; a stage hears all of its own reward')
        if (j < k && weight !== 0) issue([k, j], '0; a stage hears nothing of those before it')
      }
    }
  })

/** @throws ConfigError that lists every weight that cannot be */
export const checkLambda = (lambda: unknown, source = 'lambda'): StageWeights =>
  parseWith(lambdaSchema, lambda, source, ConfigError)

/** Rewards of the stages of a rollout, in [0, 1]; null where nothing is known. The last one is the answer's. */
export type StageRewards = readonly (number | null)[]

export interface StageCreditOptions extends GrpoOptions {
  /** `stages` (default): each stage its own return. `terminal`: the answer's reward for all, as answer-only GRPO. */
  mode?: 'stages' | 'terminal'
  /** Default `DEFAULT_LAMBDA`. */
  lambda?: StageWeights
  /**
   * A rollout of which only the answer's reward is known, which counts in the last stage's statistics unless left out. `terminal`
   * (default) gives stage k the return lambda[k, last] * R[last], beside the statistics of rollouts that have the rewards which
   * it lacks: large negative advantages, whatever the answer. `answer`: its answer's advantage in all stages; `leave-out`: none.
   */
  failed?: 'terminal' | 'answer' | 'leave-out'
}

export interface StageAdvantages {
  /** [problem][sample][stage]; null where nothing is known. */
  returns_P_G_K: (number | null)[][][]
  /** [problem][sample][stage]; 0 where nothing is known. */
  advantages_P_G_K: number[][][]
  groups: number
  /** Groups of which nothing is known, and those with a single rollout to compare with. */
  emptyGroups: number
  singletonGroups: number
  /** Groups of two or more whose returns are equal in every stage, and those with equal returns, stage by stage. */
  zeroVarianceGroups: number
  zeroVarianceGroups_K: number[]
  /** Share of groups that carry a gradient in some stage. */
  realBatchRatio: number
  /** Rollouts of which only the answer's reward is known, and those of which not even that is. */
  failedRollouts: number
  unknownRollouts: number
}

/** What is known of a rollout's rewards: all of them, only the answer's, nothing that can be used. */
type Knowledge = 'full' | 'failed' | 'unknown'

const knowledgeOf = (rewards: StageRewards, mode: 'stages' | 'terminal'): Knowledge => {
  if (rewards.at(-1) === null) return 'unknown'
  return mode === 'terminal' || rewards.every(reward => reward !== null) ? 'full' : 'failed'
}

/**
 * Returns of one rollout: G[k] = sum over j >= k of lambda[k, j] R[j]. Where only the answer's reward is known,
 * G[k] = lambda[k, last] R[last]; where that is not known either, null.
 * @throws NumericError for a reward that is not finite, ShapeError for more or fewer rewards than stages
 * @example
 * stageReturns([0.5, 1, 0, 1], [[1, 0, 0, 0.5], [0, 1, 0, 0.5], [0, 0, 1, 0.5], [0, 0, 0, 1]]) // [ 1, 1.5, 0.5, 1 ]
 */
export const stageReturns = (
  rewards: StageRewards,
  lambda: StageWeights = DEFAULT_LAMBDA,
  mode: 'stages' | 'terminal' = 'stages',
): (number | null)[] => {
  checkStageRewards(rewards, lambda.length)
  const answer = rewards.at(-1)!
  const knowledge = knowledgeOf(rewards, mode)
  if (knowledge === 'unknown') return lambda.map(() => null)
  if (mode === 'terminal') return lambda.map(() => answer)
  return lambda.map((weights, k) => {
    if (knowledge === 'failed') return weights[lambda.length - 1] * answer
    let sum = 0
    for (let j = k; j < weights.length; j++) sum += weights[j] * rewards[j]!
    return sum
  })
}

const checkStageRewards = (rewards: StageRewards, stages: number): void => {
  if (rewards.length !== stages)
    throw new ShapeError(
      `stage rewards: expected ${stages}, one a stage, got ${rewards.length}; give null for a stage that nothing is known of`,
    )
  for (const [k, reward] of rewards.entries())
    if (reward !== null && !Number.isFinite(reward))
      throw new NumericError(
        `stage rewards: stage ${k + 1}: expected a finite number or null, got ${reward}; check the grader that made it`,
      )
}

/** A group's returns, and which of its rollouts mean and deviation are over, stage by stage. */
interface StagedGroup {
  returns_G_K: (number | null)[][]
  known: Knowledge[]
  basis_K: number[][]
}

const stagedGroup = (
  rewards_G_K: readonly StageRewards[],
  lambda: StageWeights,
  { mode = 'stages', failed = 'terminal' }: StageCreditOptions,
): StagedGroup => {
  const known = rewards_G_K.map(rewards => knowledgeOf(rewards, mode))
  const returns_G_K = rewards_G_K.map((rewards, g) => {
    const returns = stageReturns(rewards, lambda, mode)
    return known[g] === 'failed' && failed === 'leave-out' ? returns.map(() => null) : returns
  })
  const full = known.flatMap((own, g) => (own === 'full' ? [g] : []))
  const answered = returns_G_K.flatMap((returns, g) => (returns.at(-1) === null ? [] : [g]))
  // Where every scoring failed, all returns are on one scale, that of the answer: they are compared with each other.
  const earlier = full.length > 0 ? full : answered
  return { returns_G_K, known, basis_K: lambda.map((_, k) => (k + 1 < lambda.length ? earlier : answered)) }
}

const valuesOf = ({ returns_G_K, basis_K }: StagedGroup, k: number): number[] =>
  basis_K[k].map(g => returns_G_K[g][k]!)

/**
 * Advantages of stages, each relative to the same stage of the group's other rollouts: (G - mean) / (std + epsilon)
 * (RubricEM's SS-GRPO). Mean and deviation are over the rollouts with full scores, in the last stage over all whose
 * answer's reward is known; a stage in which these do not differ has no advantages at all. A stage that a rollout
 * lacks has reward 0 and takes part in the others' means.
 * @param rewards_P_G_K rewards of the stages of each rollout: [problem][sample][stage]
 * @throws ConfigError for a matrix that cannot be, NumericError and ShapeError for rewards that cannot
 * @example
 * const lambda = [[1, 0.5], [0, 1]]
 * const staged = stageAdvantages([[[0, 1], [1, 0]]], { lambda })
 * staged.returns_P_G_K // [ [ [ 0.5, 1 ], [ 1, 0 ] ] ]
 * staged.advantages_P_G_K // [ [ [ -1, 1 ], [ 1, -1 ] ] ]
 */
export const stageAdvantages = (
  rewards_P_G_K: readonly (readonly StageRewards[])[],
  options: StageCreditOptions = {},
): StageAdvantages => {
  const lambda = checkLambda(options.lambda ?? DEFAULT_LAMBDA)
  const { ddof = 0, epsilon = 1e-6, scale = 'group' } = options
  const staged = rewards_P_G_K.map(group => stagedGroup(group, lambda, options))
  const stages = lambda.map((_, k) => k)
  const divisor = (values: readonly number[]) => (scale === 'none' ? 1 : std(values, ddof) + epsilon)
  const batchDivisor_K = stages.map(k => divisor(staged.flatMap(group => valuesOf(group, k))))
  const flat_P_K = staged.map(group => stages.map(k => hasNoRange(valuesOf(group, k))))
  const advantages_P_G_K = staged.map((group, p) => {
    const statistics = stages.map(k => {
      const values = valuesOf(group, k)
      return { centre: mean(values), divisor: scale === 'batch' ? batchDivisor_K[k] : divisor(values) }
    })
    return group.returns_G_K.map((returns, g) => {
      const own = returns.map((value, k) => {
        if (value === null || flat_P_K[p][k]) return 0
        return (value - statistics[k].centre) / statistics[k].divisor
      })
      const byAnswer = group.known[g] === 'failed' && options.failed === 'answer'
      return byAnswer ? own.map(() => own.at(-1)!) : own
    })
  })
  return {
    returns_P_G_K: staged.map(({ returns_G_K }) => returns_G_K),
    advantages_P_G_K,
    ...countsOf(staged, flat_P_K, stages),
  }
}

const countsOf = (
  staged: readonly StagedGroup[],
  flat_P_K: readonly (readonly boolean[])[],
  stages: readonly number[],
) => {
  const count = (holds: (group: StagedGroup, p: number) => boolean) => staged.filter(holds).length
  const answers = ({ basis_K }: StagedGroup) => basis_K.at(-1)!.length
  const compared = (group: StagedGroup) => answers(group) > 1
  const rollouts = (what: Knowledge) =>
    staged.reduce((sum, { known }) => sum + known.filter(own => own === what).length, 0)
  const real = count((group, p) => compared(group) && flat_P_K[p].includes(false))
  return {
    groups: staged.length,
    emptyGroups: count(group => answers(group) === 0),
    singletonGroups: count(group => answers(group) === 1),
    zeroVarianceGroups: count((group, p) => compared(group) && !flat_P_K[p].includes(false)),
    zeroVarianceGroups_K: stages.map(k => count((group, p) => compared(group) && flat_P_K[p][k])),
    realBatchRatio: staged.length > 0 ? real / staged.length : 0,
    failedRollouts: rollouts('failed'),
    unknownRollouts: rollouts('unknown'),
  }
}

/** Where the advantage of a stage that a rollout lacks goes: to the first token of the next one that is there, or nowhere. */
export type MissingStages = 'next' | 'none'

/**
 * Every token of stage k carries the advantage of stage k; `missing`: of a stage without a token of the policy's.
 * @param stages the stage of each token, from 1; 0 for none, which has no credit
 * @param advantages one a stage
 * @param mask one a token: 0 where the environment wrote
 * @throws ShapeError unless there is one stage a token, DataError for a stage that there is none of, NumericError
 */
export const stageTokenCredit = (
  stages: ArrayLike<number>,
  advantages: readonly number[],
  mask: ArrayLike<number>,
  missing: MissingStages = 'next',
): Float32Array => {
  if (stages.length !== mask.length)
    throw new ShapeError(
      `stages of tokens: expected ${mask.length}, one a token, got ${stages.length}; parse the stages of this response`,
    )
  for (const [k, advantage] of advantages.entries())
    if (!Number.isFinite(advantage))
      throw new NumericError(
        `advantage of stage ${k + 1}: expected a finite number, got ${advantage}; check the rewards`,
      )
  const first_K = advantages.map(() => -1)
  const credit = Float32Array.from(mask, (m, t) => {
    const stage = stages[t]
    if (!(Number.isInteger(stage) && stage >= 0 && stage <= advantages.length))
      throw new DataError(
        `stage of token ${t}: expected a number from 0 to ${advantages.length}, got ${stage}; number stages from 1, with 0 for none`,
      )
    if (m === 0 || stage === 0) return 0
    if (first_K[stage - 1] < 0) first_K[stage - 1] = t
    return advantages[stage - 1]
  })
  for (const [k, first] of missing === 'next' ? first_K.entries() : []) {
    const next = first < 0 ? first_K.slice(k + 1).find(t => t >= 0) : undefined
    if (next !== undefined) credit[next] += advantages[k]
  }
  return credit
}

/**
 * Rollouts with their stages' advantages on the tokens of each stage; in mode `terminal` the answer's on every token that the
 * policy wrote.
 * @param stagesOf the stage of each token of a rollout
 * @throws what `stageTokenCredit` throws
 */
export const creditStages = <Problem, Grade>(
  groups: Groups<Graded<Problem, Grade>>,
  advantages_P_G_K: StageAdvantages['advantages_P_G_K'],
  stagesOf: (item: Graded<Problem, Grade>) => ArrayLike<number>,
  { mode = 'stages', missing }: Pick<StageCreditOptions, 'mode'> & { missing?: MissingStages } = {},
): Credited<Problem, Grade>[][] =>
  groups.map((group, p) =>
    group.map((item, g) => {
      const { mask } = item.rollout
      const advantages_K = advantages_P_G_K[p][g]
      const advantages =
        mode === 'terminal'
          ? broadcastAdvantage(advantages_K.at(-1) ?? 0, mask)
          : stageTokenCredit(stagesOf(item), advantages_K, mask, missing)
      return { ...item, advantages }
    }),
  )
